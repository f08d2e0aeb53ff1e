//! From events to a cassette.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Read, Seek, Write};

use foldhash::quality::RandomState;

use super::assemble::{Assembly, Beside};
use super::ends::Ends;
use super::fresh::Fresh;
use super::ledger::Ledger;
use super::note::{self, Content, Remark};
use super::open::Open;
use super::sides::{Context, Side, Told};
use super::text::{push_string, shell_line};
use crate::conversation::{Handle, Pairing};
use crate::envelope::Envelope;
use crate::era::EraTracker;
use crate::event::{ConduitId, Event, EventBody, Payload, ResponseHead, Scope, SessionKey};
use crate::http_exchange::HttpExchanges;
use crate::tape::{Ending, Footer, GapTotal, Header, TapeFailure};

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
    pub(super) eras: HashMap<Scope, EraTracker, RandomState>,
    pub(super) ends: Ends,
    gaps: GapTotal,
    // Client requests other than `server/discover`.
    pub(super) beyond_probes: u64,
    pub(super) exchanges: HttpExchanges,
    // The event at hand is part of an HTTP exchange, and what is known about it.
    http: bool,
    pub(super) context: Context,
    // Requests that were answered before their exchange was over.
    pub(super) deferred: HashMap<Handle, Open, RandomState>,
    // Requests that still wait after their exchange was over.
    pub(super) left: HashMap<ConduitId, Handle, RandomState>,
    pub(super) sides: HashMap<ConduitId, Side, RandomState>,
    pub(super) sessions: BTreeMap<SessionKey, Told>,
    pub(super) fresh: Fresh,
    // Heads of responses whose answers travel on as lines.
    pub(super) heads: HashMap<ConduitId, ResponseHead, RandomState>,
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
            ("made_in_folder", &header.made_in.folder),
            ("made_in_home", &header.made_in.home),
        ];
        let meta = known.into_iter().filter(|(_, value)| !value.is_empty());
        let meta: Vec<_> = meta
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let mut ledger = Ledger::new(spool, messages_spool);
        ledger.set_head(head(&meta));
        Self {
            meta,
            ledger,
            pairing: Pairing::default(),
            replies: Pairing::default(),
            eras: HashMap::default(),
            ends: Ends::default(),
            gaps: GapTotal::default(),
            beyond_probes: 0,
            exchanges: HttpExchanges::default(),
            http: false,
            context: Context::default(),
            deferred: HashMap::default(),
            left: HashMap::default(),
            sides: HashMap::default(),
            sessions: BTreeMap::new(),
            fresh: Fresh::default(),
            heads: HashMap::default(),
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
        self.ledger.set_head(head(&self.meta));
        self
    }

    /// Takes the next event.
    pub fn observe(&mut self, event: &Event) -> io::Result<()> {
        self.observe_message(event, None)
    }

    /// As [`observe`](Self::observe), with the event's message taken apart where it is already.
    pub fn observe_message(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
    ) -> io::Result<()> {
        self.close_fresh(event)?;
        // The event may be the last of its exchange.
        self.http = self.exchanges.get(event.conduit).is_some();
        self.exchanges.observe(event);
        self.context = Context::of(self.exchanges.about(event));
        self.event(event, message)?;
        self.settle_exchanges()
    }

    fn event(&mut self, event: &Event, message: Option<&Envelope<'_>>) -> io::Result<()> {
        match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => self.payload(event, bytes, message),
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
    pub fn finish(self, ending: &Ending, out: &mut dyn Write) -> io::Result<Summary> {
        let mut end = self.end(ending)?;
        end.write(out)?;
        Ok(end.summary)
    }

    /// As [`finish`](Self::finish), and the cassette is on the spool that is handed back: the
    /// first of the projector's own, to which only what stands behind the exchanges is added,
    /// or `other`, which is asked for when an exchange has to be put in between.
    pub fn finish_in_place(
        self,
        ending: &Ending,
        other: impl FnOnce() -> io::Result<S>,
    ) -> io::Result<(Summary, S)> {
        let mut end = self.end(ending)?;
        let summary = end.summary;
        if !end.assembly.begins_with(&end.head) {
            let mut other = other()?;
            end.write(&mut other)?;
            return Ok((summary, other));
        }
        let (mut main, mut beside) = end.assembly.into_parts()?;
        end.rest.write(&mut beside, &summary, &mut main)?;
        Ok((summary, main))
    }

    /// Settles everything.
    fn end(mut self, ending: &Ending) -> io::Result<End<S>> {
        self.exchanges.finish();
        self.settle_exchanges()?;
        self.close_all_fresh()?;
        while let Some(open) = self.pairing.pop_oldest() {
            self.abandon(&open)?;
        }
        let requests = self.ledger.count();
        let mut sessions = Vec::new();
        self.push_sessions(&mut sessions);
        let assembly = self.ledger.finish()?;
        Ok(End {
            summary: Summary {
                exchanges: assembly.exchanges(),
                unanswered: assembly.beside.unanswered(),
                messages: assembly.beside.messages,
                http: assembly.beside.asides(),
                probe_only: requests > 0 && self.beyond_probes == 0,
            },
            assembly,
            head: head(&self.meta),
            rest: Rest {
                sessions,
                incomplete: incomplete(ending, self.gaps),
            },
        })
    }
}

/// A cassette of which everything is known.
struct End<S> {
    assembly: Assembly<S>,
    summary: Summary,
    // What stands before the exchanges.
    head: Vec<u8>,
    rest: Rest,
}

impl<S: Read + Write + Seek> End<S> {
    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(64 << 10, out);
        out.write_all(&self.head)?;
        self.assembly.write_exchanges(None, &mut out)?;
        let beside = &mut self.assembly.beside;
        self.rest.write(beside, &self.summary, &mut out)?;
        out.flush()
    }
}

/// What stands behind the exchanges, but for what is on the side spool.
struct Rest {
    sessions: Vec<u8>,
    incomplete: Option<String>,
}

impl Rest {
    /// Ends the exchanges, and with them the cassette.
    fn write<S: Read + Seek>(
        &self,
        beside: &mut Beside<S>,
        summary: &Summary,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(64 << 10, out);
        out.write_all(if summary.exchanges > 0 {
            b"\n  ]"
        } else {
            b"]"
        })?;
        if summary.messages > 0 {
            out.write_all(b",\n  \"messages\": [")?;
            beside.write_messages(&mut out)?;
            out.write_all(b"\n  ]")?;
        }
        if summary.unanswered > 0 {
            out.write_all(b",\n  \"unanswered\": [")?;
            beside.write_orphans(&mut out)?;
            out.write_all(b"\n  ]")?;
        }
        if summary.http > 0 {
            out.write_all(b",\n  \"http\": [")?;
            beside.write_asides(&mut out)?;
            out.write_all(b"\n  ]")?;
        }
        if !self.sessions.is_empty() {
            out.write_all(b",\n  \"sessions\": [")?;
            out.write_all(&self.sessions)?;
            out.write_all(b"\n  ]")?;
        }
        if let Some(why) = &self.incomplete {
            let mut text = b",\n  \"incomplete\": ".to_vec();
            push_string(why, &mut text);
            out.write_all(&text)?;
        }
        out.write_all(b"\n}\n")?;
        out.flush()
    }
}

/// What stands before the exchanges.
fn head(meta: &[(String, String)]) -> Vec<u8> {
    let mut text = b"{\n  \"version\": \"1\",\n  \"meta\": {".to_vec();
    push_meta(meta, &mut text);
    text.extend_from_slice(b"},\n  \"exchanges\": [");
    text
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
        Ending::Footer(footer) if !footer.complete => failure(footer)
            .or_else(|| gaps(footer.gaps))
            .or_else(|| gaps(seen))
            .or_else(|| Some("the recorder says so and gives no reason".to_owned())),
        Ending::Footer(_) => gaps(seen),
    }
}

/// What documents say of a tape that could not be kept whole.
pub(crate) fn failure(footer: &Footer) -> Option<String> {
    let detail = footer.detail.as_deref().unwrap_or_default();
    let words = match footer.why? {
        TapeFailure::NotCreated => "the tape could not be created",
        TapeFailure::NotWritten => "the tape could not be written",
        TapeFailure::Unknown if detail.is_empty() => return None,
        // Another document says so.
        TapeFailure::Unknown => return Some(detail.to_owned()),
    };
    if detail.is_empty() {
        return Some(words.to_owned());
    }
    Some(format!("{words}: {detail}"))
}
