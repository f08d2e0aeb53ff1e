//! From events to a cassette.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Read, Seek, Write};

use super::ends::Ends;
use super::fresh::Fresh;
use super::ledger::Ledger;
use super::note::{self, Content, Remark};
use super::open::Open;
use super::sides::{Context, Side, Told};
use super::text::{push_string, shell_line};
use crate::conversation::{Handle, Pairing};
use crate::era::EraTracker;
use crate::event::{ConduitId, Event, EventBody, Payload, ResponseHead, Scope, SessionKey};
use crate::exchange::Exchanges;
use crate::tape::{Ending, GapTotal, Header};

/// Folds events into a cassette.
///
/// Feed it every event in order with [`observe`](Self::observe), then write the file with
/// [`finish`](Self::finish). The spools must be empty; what they hold afterwards is of no
/// use to anyone.
#[derive(Debug)]
pub struct Projector<S: Write> {
    pub(super) meta: Vec<(String, String)>,
    pub(super) ledger: Ledger<S>,
    // The client's requests, and the server's with the exchange in whose stream they stand.
    pub(super) pairing: Pairing<Open>,
    pub(super) replies: Pairing<Option<Handle>>,
    pub(super) eras: HashMap<Scope, EraTracker>,
    pub(super) ends: Ends,
    gaps: GapTotal,
    // Client requests other than `server/discover`.
    pub(super) beyond_probes: u64,
    pub(super) exchanges: Exchanges,
    // The event at hand is part of an HTTP exchange, and what is known about it.
    http: bool,
    pub(super) context: Context,
    // Requests that were answered before their exchange was over.
    pub(super) deferred: HashMap<Handle, Open>,
    // Requests that still wait after their exchange was over.
    pub(super) left: HashMap<ConduitId, Handle>,
    pub(super) sides: HashMap<ConduitId, Side>,
    pub(super) sessions: BTreeMap<SessionKey, Told>,
    pub(super) fresh: Fresh,
    // Heads of responses whose answers travel on as lines.
    pub(super) heads: HashMap<ConduitId, ResponseHead>,
    pub(super) entry: Vec<u8>,
    pub(super) tail: Vec<u8>,
    pub(super) end: Vec<u8>,
}

/// What a projection wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Requests with their response; for a capture, all its entries.
    pub exchanges: u64,
    /// Requests that never got one.
    pub unanswered: u64,
    /// Messages that belong to no exchange.
    pub messages: u64,
    /// HTTP exchanges without a request of JSON-RPC.
    pub http: u64,
    /// There were requests, and all of them were `server/discover`: a client only asked
    /// what this server speaks.
    pub probe_only: bool,
}

impl<S: Read + Write + Seek> Projector<S> {
    /// A projector at the start of a recording.
    #[must_use]
    pub fn new(header: &Header, spool: S, messages_spool: S) -> Self {
        let command = shell_line(&header.command);
        let known = [
            ("source_command", &command),
            ("source_url", &header.upstream),
            ("label", &header.label),
            ("recorded_at", &header.created),
            ("tapewright_version", &header.by),
        ];
        let meta = known.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            meta: meta
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect(),
            ledger: Ledger::new(spool, messages_spool),
            pairing: Pairing::default(),
            replies: Pairing::default(),
            eras: HashMap::new(),
            ends: Ends::default(),
            gaps: GapTotal::default(),
            beyond_probes: 0,
            exchanges: Exchanges::default(),
            http: false,
            context: Context::default(),
            deferred: HashMap::new(),
            left: HashMap::new(),
            sides: HashMap::new(),
            sessions: BTreeMap::new(),
            fresh: Fresh::default(),
            heads: HashMap::new(),
            entry: Vec::new(),
            tail: Vec::new(),
            end: Vec::new(),
        }
    }

    /// Adds a member to `meta`, or replaces it.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: &str) -> Self {
        self.meta.retain(|(known, _)| known != name);
        self.meta.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes the next event.
    pub fn observe(&mut self, event: &Event) -> io::Result<()> {
        self.close_fresh(event)?;
        // The event may be the last of its exchange.
        self.http = self.exchanges.get(event.conduit).is_some();
        self.exchanges.observe(event);
        self.context = Context::of(self.exchanges.about(event));
        self.event(event)?;
        self.settle_exchanges()
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => self.payload(event, bytes),
            EventBody::Message { payload, .. } => {
                let why = Remark {
                    why: Some("over the message limit"),
                    ..Remark::mark("clipped")
                };
                self.beside(event, note::clipped(payload), why)
            }
            EventBody::Faulted(faulted) => {
                self.mark_faulted(event, &faulted.effect)?;
                let why = Remark {
                    effect: Some(&faulted.effect),
                    ..Remark::mark("faulted")
                };
                self.beside(event, Content::Nothing, why)
            }
            EventBody::Gap(gap) => {
                self.gaps.count += 1;
                self.gaps.events = self.gaps.events.saturating_add(gap.events);
                self.gaps.bytes = self.gaps.bytes.saturating_add(gap.bytes);
                Ok(())
            }
            EventBody::Closed(_) | EventBody::Exited(_) => {
                if !self.http {
                    self.ends.observe(event);
                }
                Ok(())
            }
            EventBody::Part { .. } | EventBody::Signal(_) | EventBody::Stderr { .. } => Ok(()),
            _ => self.beside_messages(event),
        }
    }

    /// Writes the cassette.
    pub fn finish(mut self, ending: &Ending, out: &mut dyn Write) -> io::Result<Summary> {
        self.exchanges.finish();
        self.settle_exchanges()?;
        self.close_all_fresh()?;
        while let Some(open) = self.pairing.pop_oldest() {
            self.abandon(&open)?;
        }
        let requests = self.ledger.count();
        let mut sessions = Vec::new();
        self.push_sessions(&mut sessions);
        let mut assembly = self.ledger.finish()?;
        let summary = Summary {
            exchanges: assembly.exchanges(),
            unanswered: assembly.unanswered(),
            messages: assembly.messages,
            http: assembly.asides(),
            probe_only: requests > 0 && self.beyond_probes == 0,
        };
        let mut out = BufWriter::with_capacity(64 << 10, out);
        let mut text = b"{\n  \"version\": \"1\",\n  \"meta\": {".to_vec();
        push_meta(&self.meta, &mut text);
        text.extend_from_slice(b"},\n  \"exchanges\": [");
        out.write_all(&text)?;
        assembly.write_exchanges(None, &mut out)?;
        out.write_all(if summary.exchanges > 0 {
            b"\n  ]"
        } else {
            b"]"
        })?;
        if summary.messages > 0 {
            out.write_all(b",\n  \"messages\": [")?;
            assembly.write_messages(&mut out)?;
            out.write_all(b"\n  ]")?;
        }
        if summary.unanswered > 0 {
            out.write_all(b",\n  \"unanswered\": [")?;
            assembly.write_orphans(&mut out)?;
            out.write_all(b"\n  ]")?;
        }
        if summary.http > 0 {
            out.write_all(b",\n  \"http\": [")?;
            assembly.write_asides(&mut out)?;
            out.write_all(b"\n  ]")?;
        }
        if !sessions.is_empty() {
            out.write_all(b",\n  \"sessions\": [")?;
            out.write_all(&sessions)?;
            out.write_all(b"\n  ]")?;
        }
        if let Some(why) = incomplete(ending, self.gaps) {
            text.clear();
            text.extend_from_slice(b",\n  \"incomplete\": ");
            push_string(&why, &mut text);
            out.write_all(&text)?;
        }
        out.write_all(b"\n}\n")?;
        out.flush()?;
        Ok(summary)
    }
}

fn push_meta(meta: &[(String, String)], out: &mut Vec<u8>) {
    for (place, (name, value)) in meta.iter().enumerate() {
        out.extend_from_slice(if place == 0 { b"\n    " } else { b",\n    " });
        push_string(name, out);
        out.extend_from_slice(b": ");
        push_string(value, out);
    }
    if !meta.is_empty() {
        out.extend_from_slice(b"\n  ");
    }
}

/// Why a recording does not hold everything that crossed.
pub(crate) fn incomplete(ending: &Ending, seen: GapTotal) -> Option<String> {
    let gaps = |gaps: GapTotal| {
        let GapTotal {
            count,
            events,
            bytes,
        } = gaps;
        (count > 0).then(|| format!("gaps: {count}, with {events} events and {bytes} bytes"))
    };
    match ending {
        Ending::CutShort { last_seq, .. } => Some(format!(
            "the recorder was stopped before it could write the footer; the last event is {last_seq}"
        )),
        Ending::Footer(footer) if !footer.complete => footer
            .why
            .clone()
            .or_else(|| gaps(footer.gaps))
            .or_else(|| gaps(seen))
            .or_else(|| Some("the recorder says so and gives no reason".to_owned())),
        Ending::Footer(_) => gaps(seen),
    }
}
