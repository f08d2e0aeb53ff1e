//! From events to a cassette.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufWriter, Read, Seek, Write};

use foldhash::quality::RandomState;

use super::assemble::{Assembly, Remainder};
use super::course::Counted;
use super::ends::Ends;
use super::exchange_order::ExchangeOrder;
use super::field_texts::FieldTexts;
use super::fresh::Fresh;
use super::note::{self, Content, Remark};
use super::open::Open;
use super::places::{MethodNames, Placed};
use super::sides::{Context, SessionLife, Side};
use super::text::{push_string, shell_line};
use crate::conversation::{Conversation, Handle, PerExchange};
use crate::envelope::Envelope;
use crate::era::EraTracker;
use crate::event::{ConduitId, Event, EventBody, Payload, ResponseHead, Scope, SessionKey};
use crate::http_exchange::HttpExchanges;
use crate::json::push_number;
use crate::tape::{Ending, GapTotal, Header, Incomplete};

/// Folds events into a cassette.
///
/// Feed it every event in order with [`observe`](Self::observe), then write the file with
/// [`finish`](Self::finish). The spools must be empty; their contents afterwards are unspecified.
#[derive(Debug)]
pub struct Projector<S: Write> {
    conversation: Conversation<()>,
    entries: Entries<S>,
}

/// The contents of the cassette, collected from the conversation.
#[derive(Debug)]
pub(super) struct Entries<S: Write> {
    pub(super) meta: Vec<(String, String)>,
    // What a cassette without times records instead.
    pub(super) counted: Option<Counted>,
    pub(super) exchange_order: ExchangeOrder<S>,
    // The client's requests, and the server's with the exchange whose stream contains them.
    pub(super) open: PerExchange<Open>,
    pub(super) replies: PerExchange<Option<Handle>>,
    pub(super) eras: HashMap<Scope, EraTracker, RandomState>,
    pub(super) ends: Ends,
    gaps: GapTotal,
    // Client requests other than `server/discover`.
    pub(super) beyond_probes: u64,
    pub(super) exchanges: HttpExchanges,
    // Whether the current event is part of an HTTP exchange, and what is known about it.
    http: bool,
    pub(super) context: Context,
    // Requests that were answered before their exchange was over.
    pub(super) deferred: HashMap<Handle, Open, RandomState>,
    // Requests that still wait after their exchange was over.
    pub(super) left: HashMap<ConduitId, Handle, RandomState>,
    pub(super) sides: HashMap<ConduitId, Side, RandomState>,
    pub(super) sessions: BTreeMap<SessionKey, SessionLife>,
    pub(super) fresh: Fresh,
    // Heads of responses whose answers travel on as lines.
    pub(super) heads: HashMap<ConduitId, ResponseHead, RandomState>,
    pub(super) entry: Vec<u8>,
    pub(super) tail: Vec<u8>,
    pub(super) end: Vec<u8>,
    pub(super) http_text: Vec<u8>,
    pub(super) field_texts: FieldTexts,
    // Set if the positions of exchanges are requested.
    pub(super) methods: Option<MethodNames>,
}

/// Counts of a finished projection.
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
    /// All requests, at least one, were `server/discover`: a client that only asked which revisions
    /// this server supports.
    pub probe_only: bool,
}

impl<S: Read + Write + Seek> Projector<S> {
    /// Creates a projector at the start of a recording.
    #[must_use]
    pub fn new(header: &Header, spool: S, messages_spool: S) -> Self {
        let command = shell_line(&header.command);
        let known = [
            ("source_command", &command),
            ("source_url", &header.upstream),
            ("label", &header.label),
            (RECORDED_AT, &header.created),
            (VERSION, &header.by),
            ("made_in_folder", &header.made_in.folder),
            ("made_in_home", &header.made_in.home),
        ];
        let meta = known.into_iter().filter(|(_, value)| !value.is_empty());
        let meta: Vec<_> = meta
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect();
        let mut exchange_order = ExchangeOrder::new(spool, messages_spool);
        exchange_order.set_head(head(&meta));
        let entries = Entries {
            meta,
            counted: None,
            exchange_order,
            open: PerExchange::default(),
            replies: PerExchange::default(),
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
            http_text: Vec::new(),
            field_texts: FieldTexts::default(),
            methods: None,
        };
        Self {
            conversation: Conversation::of_handles(),
            entries,
        }
    }

    /// Omits times, durations and everything else that differs between recordings: two recordings
    /// of the same conversation are the same file, and a different answer is the only difference.
    #[must_use]
    pub fn without_times(mut self) -> Self {
        let entries = &mut self.entries;
        entries.counted = Some(Counted::default());
        let ours = entries.meta.iter().position(|(name, _)| name == VERSION);
        if let Some(ours) = ours.and_then(|at| entries.meta.get_mut(at)) {
            *ours = (RECORDED_BY.to_owned(), TAPEWRIGHT.to_owned());
        }
        entries.meta.retain(|(name, _)| !is_of_one(name));
        entries.exchange_order.set_head(head(&entries.meta));
        self
    }

    /// Adds a member to `meta`, or replaces it, unless it is specific to one recording and
    /// therefore omitted.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: &str) -> Self {
        let entries = &mut self.entries;
        if entries.counted.is_some() && is_of_one(name) {
            return self;
        }
        entries.meta.retain(|(known, _)| known != name);
        entries.meta.push((name.to_owned(), value.to_owned()));
        entries.exchange_order.set_head(head(&entries.meta));
        self
    }

    /// Records the positions of exchanges on the first spool, for [`places`](Self::places). They
    /// are also the positions in the file, if [`finish_in_place`](Self::finish_in_place) returns
    /// that spool.
    #[must_use]
    pub fn with_places(mut self) -> Self {
        self.entries.methods = Some(MethodNames::default());
        self.entries.exchange_order.keep_places();
        self
    }

    /// The exchanges that were written since the last call, in order.
    pub fn places(&mut self) -> impl Iterator<Item = Placed> + '_ {
        self.entries.exchange_order.places()
    }

    /// The methods that [`Plain::method`](super::Plain::method) names.
    pub fn methods(&self) -> &[String] {
        let methods = self.entries.methods.as_ref();
        methods.map_or(&[], |methods| &methods.names)
    }

    /// Handles the next event.
    pub fn observe(&mut self, event: &Event) -> io::Result<()> {
        self.observe_message(event, None)
    }

    /// Like [`observe`](Self::observe), for an event whose message is already parsed.
    pub fn observe_message(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
    ) -> io::Result<()> {
        let (conversation, entries) = (&mut self.conversation, &mut self.entries);
        entries.begin(event)?;
        if entries.sees(event, message)? {
            let mut outcome = Ok(());
            conversation.observe(event, message, |step| {
                if outcome.is_ok() {
                    outcome = entries.message(event, &step);
                }
            });
            outcome?;
        }
        entries.settle_exchanges()
    }

    /// Settles everything: no more events will come. Finishing does so as well.
    pub fn settle_all(&mut self) -> io::Result<()> {
        self.entries.settle_all()
    }

    /// Writes the cassette.
    pub fn finish(self, ending: &Ending, out: &mut dyn Write) -> io::Result<Summary> {
        let mut end = self.entries.end(ending)?;
        end.write(out)?;
        Ok(end.summary)
    }

    /// Like [`finish`](Self::finish), but returns the spool that contains the cassette: the
    /// projector's first spool, to which only the text after the exchanges is added, or `other`,
    /// which is only created when an exchange must be inserted.
    pub fn finish_in_place(
        self,
        ending: &Ending,
        other: impl FnOnce() -> io::Result<S>,
    ) -> io::Result<(Summary, S)> {
        let mut end = self.entries.end(ending)?;
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
}

impl<S: Read + Write + Seek> Entries<S> {
    /// Handles the beginning of an event, before its content.
    fn begin(&mut self, event: &Event) -> io::Result<()> {
        self.close_fresh(event)?;
        // The event may be the last of its exchange.
        self.http = self.exchanges.get(event.conduit).is_some();
        self.exchanges.observe(event);
        self.context = Context::of(self.exchanges.about(event));
        Ok(())
    }

    /// Handles an event that is not a message; returns whether the fold needs to see it.
    fn sees(&mut self, event: &Event, message: Option<&Envelope<'_>>) -> io::Result<bool> {
        match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => {
                if !self.context.replayed {
                    return Ok(true);
                }
                self.sent_again(event, bytes, message)?;
                return Ok(false);
            }
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
        }?;
        Ok(true)
    }

    /// Settles everything.
    fn settle_all(&mut self) -> io::Result<()> {
        self.exchanges.finish();
        self.settle_exchanges()?;
        self.close_all_fresh()?;
        for (_, open) in self.open.drain() {
            self.abandon(&open)?;
        }
        Ok(())
    }

    fn end(mut self, ending: &Ending) -> io::Result<End<S>> {
        self.settle_all()?;
        let requests = self.exchange_order.count();
        let mut sessions = Vec::new();
        self.push_sessions(&mut sessions);
        let mut assembly = self.exchange_order.finish()?;
        assembly.beside.timed = self.counted.is_none();
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
                incomplete: Incomplete::of(ending, self.gaps),
            },
        })
    }
}

/// A complete cassette.
struct End<S> {
    assembly: Assembly<S>,
    summary: Summary,
    // The text before the exchanges.
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

/// The text after the exchanges, except for what is on the side spool.
struct Rest {
    sessions: Vec<u8>,
    incomplete: Option<Incomplete>,
}

impl Rest {
    /// Ends the exchanges, and with them the cassette.
    fn write<S: Read + Seek>(
        &self,
        beside: &mut Remainder<S>,
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
        if let Some(lacks) = &self.incomplete {
            let mut text = Vec::new();
            push_incomplete(lacks, &mut text);
            out.write_all(&text)?;
        }
        out.write_all(b"\n}\n")?;
        out.flush()
    }
}

/// Members of `meta`: the version of tapewright that recorded, that it was tapewright, and when.
const VERSION: &str = "tapewright_version";
pub(super) const RECORDED_BY: &str = "recorded_by";
const RECORDED_AT: &str = "recorded_at";
const TAPEWRIGHT: &str = "tapewright";

/// Whether a member of `meta` is specific to one recording.
fn is_of_one(name: &str) -> bool {
    [VERSION, RECORDED_AT].contains(&name)
}

/// The text before the exchanges.
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

/// Appends the members about what is missing, and why.
fn push_incomplete(lacks: &Incomplete, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\n  \"incomplete\": ");
    push_string(lacks.why.name(), out);
    if let Some(detail) = &lacks.detail {
        out.extend_from_slice(b",\n  \"incomplete_detail\": ");
        push_string(detail, out);
    }
    if let Some(last) = lacks.last_seq {
        out.extend_from_slice(b",\n  \"last_seq\": ");
        push_number(last, out);
    }
    if !lacks.gaps.is_empty() {
        for (name, count) in [
            (&b",\n  \"gaps\": {\"count\": "[..], lacks.gaps.count),
            (b", \"events\": ", lacks.gaps.events),
            (b", \"bytes\": ", lacks.gaps.bytes),
        ] {
            out.extend_from_slice(name);
            push_number(count, out);
        }
        out.push(b'}');
    }
}
