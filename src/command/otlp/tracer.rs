//! Spans of events: the same for a recording that is made and for one that is there.

use std::collections::{HashSet, VecDeque};
use std::time::{SystemTime, UNIX_EPOCH};

use tapewright_models::links::PartLinks;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_proxy::traces;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, EventBody, Offset, SessionMark};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Change, Wanted};
use tapewright_schemas::tape::Header;

use crate::report::otlp::{Span, Spans};

/// Makes spans of the events of one tape, each as soon as it is known.
pub(crate) struct Tracer {
    listing: Listing,
    spans: Spans,
    // Wall time of offset zero, in nanoseconds since 1970.
    began: u64,
    // Sessions that have ended, and when their spans are told; and when it is looked for those again.
    ended: VecDeque<(f64, u32)>,
    look_ms: f64,
}

/// How long after its end a session is told: what is still to be known of its exchanges comes before, in milliseconds.
const GRACE_MS: f64 = 10_000.0;
/// How long after a look at the sessions that have ended there is none, in milliseconds: it looks at each open exchange.
const LOOK_MS: f64 = 1_000.0;

impl Tracer {
    /// Of a tape that began at a time, in nanoseconds since 1970; with the arguments and results of tools, where wanted.
    pub(crate) fn new(header: &Header, began: u64, content: bool) -> Self {
        Self {
            listing: Listing::new(wanted(), Prices::built_in(), PartLinks::default()).followed(),
            spans: Spans::new(header, began).with_content(content),
            began,
            ended: VecDeque::new(),
            look_ms: 0.0,
        }
    }

    /// Takes the next event; adds the spans that are complete by it.
    pub(crate) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        out: &mut Vec<Span>,
    ) {
        let at_ms = event.at.millis();
        if let EventBody::Session(mark) = event.body {
            let session = event.session.0;
            self.spans.mark(session, mark, at_ms);
            if matches!(mark, SessionMark::Ended(_)) && session != 0 {
                self.ended.push_back((at_ms + GRACE_MS, session));
            }
        }
        self.listing.observe(event, message);
        self.hand_on(out);
        self.tell_ended(at_ms, out);
    }

    /// Nothing has come for a while, and everything up to this time has been observed.
    pub(crate) fn tick(&mut self, now: SystemTime, out: &mut Vec<Span>) {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = since.as_nanos().saturating_sub(self.began.into()) / 1_000;
        let now = Offset(u64::try_from(since).unwrap_or_default());
        self.listing.tick(now);
        self.hand_on(out);
        self.tell_ended(now.millis(), out);
    }

    /// Nothing more will come.
    pub(crate) fn finish(&mut self, out: &mut Vec<Span>) {
        self.listing.finish();
        self.hand_on(out);
        out.extend(self.spans.finish());
    }

    fn hand_on(&mut self, out: &mut Vec<Span>) {
        while let Some(change) = self.listing.poll_change() {
            if let Change::Whole(_, entry) = change {
                out.extend(self.spans.entry(&entry));
            }
        }
        out.extend(self.spans.given_up());
    }

    /// Tells of sessions that ended a while ago, unless something of them is still open.
    fn tell_ended(&mut self, now_ms: f64, out: &mut Vec<Span>) {
        let is_due = self
            .ended
            .front()
            .is_some_and(|(due_ms, _)| *due_ms <= now_ms);
        if now_ms < self.look_ms || !is_due {
            return;
        }
        self.look_ms = now_ms + LOOK_MS;
        let open: HashSet<u32> = self.listing.open_sessions().collect();
        while let Some((due_ms, session)) = self.ended.front().copied()
            && due_ms <= now_ms
        {
            self.ended.pop_front();
            if open.contains(&session) {
                self.ended.push_back((now_ms + GRACE_MS, session));
            } else {
                out.extend(self.spans.ended(session));
            }
        }
    }
}

/// How long most spans are at most.
const SPAN_BYTES: usize = 2 << 10;

/// The same, as JSON for who sends it.
pub(super) struct Texts {
    pub(super) tracer: Tracer,
    pub(super) spans: Vec<Span>,
}

impl Texts {
    fn write(&mut self, out: &mut Vec<Vec<u8>>) {
        out.extend(self.spans.drain(..).map(|span| {
            let mut text = Vec::with_capacity(SPAN_BYTES);
            span.write(&mut text);
            text
        }));
    }
}

impl traces::Tracer for Texts {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>, out: &mut Vec<Vec<u8>>) {
        self.tracer.observe(event, message, &mut self.spans);
        self.write(out);
    }

    fn tick(&mut self, now: SystemTime, out: &mut Vec<Vec<u8>>) {
        self.tracer.tick(now, &mut self.spans);
        self.write(out);
    }

    fn finish(&mut self, out: &mut Vec<Vec<u8>>) {
        self.tracer.finish(&mut self.spans);
        self.write(out);
    }
}

fn wanted() -> Wanted {
    let kinds = [
        LineKind::Exchange,
        LineKind::Model,
        LineKind::Gap,
        LineKind::Fault,
        LineKind::Finding,
    ];
    Wanted {
        kinds: kinds.into(),
        bodies: true,
        timed: true,
        ..Wanted::default()
    }
}
