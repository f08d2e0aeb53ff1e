//! Makes spans from events, from a running recording and from an existing one.

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

/// Makes spans from the events of one tape, each as soon as it is complete.
pub(crate) struct Tracer {
    listing: Listing,
    spans: Spans,
    // Wall time of offset zero, in nanoseconds since 1970.
    began: u64,
    // Sessions that have ended, with the time when their spans are emitted; and the time of the
    // next look at them.
    ended: VecDeque<(f64, u32)>,
    look_ms: f64,
}

/// How long after its end a session is emitted, in milliseconds: everything that may still arrive
/// about its exchanges comes earlier.
const GRACE_MS: f64 = 10_000.0;
/// The shortest time between two looks at ended sessions, in milliseconds, since a look visits each
/// open exchange.
const LOOK_MS: f64 = 1_000.0;

impl Tracer {
    /// For a tape that began at `began`, in nanoseconds since 1970; with `content`, including the
    /// arguments and results of tools.
    pub(crate) fn new(header: &Header, began: u64, content: bool) -> Self {
        Self {
            listing: Listing::new(wanted(), Prices::built_in(), PartLinks::default()).followed(),
            spans: Spans::new(header, began).with_content(content),
            began,
            ended: VecDeque::new(),
            look_ms: 0.0,
        }
    }

    /// Takes the next event, and adds the spans that it completes.
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

    /// Called after a pause: everything up to `now` has been observed.
    pub(crate) fn tick(&mut self, now: SystemTime, out: &mut Vec<Span>) {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = since.as_nanos().saturating_sub(self.began.into()) / 1_000;
        let now = Offset(u64::try_from(since).unwrap_or_default());
        self.listing.tick(now);
        self.hand_on(out);
        self.tell_ended(now.millis(), out);
    }

    /// Called at the end.
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

    /// Adds the spans of sessions that ended a while ago and have no open exchanges.
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

/// An upper limit for the size of most spans, in bytes.
const SPAN_BYTES: usize = 2 << 10;

/// Makes the spans as JSON, for the sender.
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
