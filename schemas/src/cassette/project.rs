//! From events to a cassette.

use std::collections::HashMap;
use std::io::{self, BufWriter, Read, Seek, Write};

use super::ends::Ends;
use super::ledger::{Ledger, Rest};
use super::note::{self, Content, Remark};
use super::pairing::{Answer, Marks, Open, Pairing, Replies, Reply};
use super::text::{push_millis, push_string, shell_line};
use crate::envelope::{Envelope, Kind, Malformed, RequestId, for_each_message};
use crate::era::{Era, EraTracker};
use crate::event::{Direction, Event, EventBody, Payload};
use crate::json;
use crate::json::push_number;
use crate::tape::{Ending, GapTotal, Header};

/// Folds events into a cassette.
///
/// Feed it every event in order with [`observe`](Self::observe), then write the file with
/// [`finish`](Self::finish). The spools must be empty; what they hold afterwards is of no
/// use to anyone.
#[derive(Debug)]
pub struct Projector<S: Write> {
    meta: Vec<(String, String)>,
    ledger: Ledger<S>,
    pairing: Pairing,
    replies: Replies,
    eras: HashMap<u32, EraTracker>,
    ends: Ends,
    gaps: GapTotal,
    // Client requests other than `server/discover`.
    beyond_probes: u64,
    entry: Vec<u8>,
    tail: Vec<u8>,
    end: Vec<u8>,
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
            replies: Replies::default(),
            eras: HashMap::new(),
            ends: Ends::default(),
            gaps: GapTotal::default(),
            beyond_probes: 0,
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
        match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => self.payload(event, bytes),
            EventBody::Message { payload, .. } => {
                let why = Remark {
                    mark: Some("clipped"),
                    why: Some("over the message limit"),
                };
                self.beside(event, note::clipped(payload), why)
            }
            EventBody::Faulted { effect } => {
                let why = Remark {
                    mark: Some("faulted"),
                    why: Some(effect),
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
                self.ends.observe(event);
                Ok(())
            }
            EventBody::Added(_)
            | EventBody::Body { .. }
            | EventBody::Edited(_)
            | EventBody::Head(_)
            | EventBody::Opened(_)
            | EventBody::Part { .. }
            | EventBody::Session(_)
            | EventBody::Signal(_)
            | EventBody::Sse(_)
            | EventBody::Stderr { .. }
            | EventBody::Trailers(_) => Ok(()),
        }
    }

    /// Writes the cassette.
    pub fn finish(mut self, ending: &Ending, out: &mut dyn Write) -> io::Result<Summary> {
        while let Some((ordinal, open)) = self.pairing.pop_oldest() {
            self.abandon(ordinal, &open)?;
        }
        let requests = self.ledger.count();
        let mut assembly = self.ledger.finish()?;
        let summary = Summary {
            exchanges: assembly.exchanges(),
            unanswered: assembly.unanswered(),
            messages: assembly.messages,
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

    fn payload(&mut self, event: &Event, bytes: &[u8]) -> io::Result<()> {
        let envelope = Envelope::parse(bytes);
        match envelope.kind {
            Kind::Batch { members: 0 } => self.beside(
                event,
                Content::Json(bytes.trim_ascii()),
                Remark::mark("empty batch"),
            ),
            Kind::Batch { .. } => {
                let mut outcome = Ok(());
                for_each_message(bytes, |one| {
                    if outcome.is_ok() {
                        outcome = self.message(event, &Envelope::parse(one), one, true);
                    }
                });
                outcome
            }
            _ => self.message(event, &envelope, bytes.trim_ascii(), false),
        }
    }

    fn message(
        &mut self,
        event: &Event,
        envelope: &Envelope<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        let era = self.era(event, envelope);
        match (&envelope.kind, event.dir) {
            (Kind::Request { id, method, params }, Direction::ToServer) => {
                self.beyond_probes += u64::from(method != "server/discover");
                let ordinal = self.ledger.open(event.session.0, text)?;
                let mut open = Open::new(event.at, event.session.0, event.conduit, era);
                if batch {
                    open.marks.add(Marks::BATCH);
                }
                self.pairing
                    .ask(ordinal, open, id, params.and_then(progress_token));
                match self.pairing.pop_excess() {
                    Some((oldest, open)) => self.abandon(oldest, &open),
                    None => Ok(()),
                }
            }
            (Kind::Response { id, .. }, Direction::ToClient) => self.answer(event, id, text, batch),
            (Kind::Request { id, .. }, Direction::ToClient) => {
                let home = self.pairing.latest(event.session.0);
                self.replies.ask(event.session.0, id, home);
                self.place(event, home, text, plain(batch))
            }
            (Kind::Response { id, .. }, Direction::ToServer) => self.reply(event, id, text, batch),
            (Kind::Notification { method, params }, _) => {
                let (home, remark) = self.home(event, method, *params);
                let remark = if remark.mark.is_some() {
                    remark
                } else {
                    plain(batch)
                };
                self.place(event, home, text, remark)
            }
            (Kind::Malformed(why), _) => self.noise(event, text, *why),
            // A batch inside a batch is no envelope.
            (Kind::Batch { .. }, _) => self.noise(event, text, Malformed::NotAnObject),
        }
    }

    /// The request to which a notification belongs.
    fn home(
        &mut self,
        event: &Event,
        method: &str,
        params: Option<&[u8]>,
    ) -> (Option<u64>, Remark<'static>) {
        let session = event.session.0;
        let named = |name: &str| params.and_then(|params| json::find(params, &[name]));
        match (method, event.dir) {
            ("notifications/progress", Direction::ToClient) => {
                let token = named("progressToken");
                match token.and_then(|token| self.pairing.by_token(session, token)) {
                    Some(home) => (Some(home), Remark::default()),
                    None => (None, Remark::mark("progress of nobody")),
                }
            }
            ("notifications/cancelled", Direction::ToServer) => {
                let id = named("requestId");
                match id.and_then(|id| self.pairing.cancel(session, id)) {
                    Some(home) => (Some(home), Remark::default()),
                    None => (None, Remark::mark("cancels nobody")),
                }
            }
            (_, Direction::ToClient) => (self.pairing.latest(session), Remark::default()),
            (_, Direction::ToServer) => (None, Remark::default()),
        }
    }

    fn answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        let mark = match self.pairing.answer(event.session.0, id) {
            Answer::Pairs(ordinal, mut open) => {
                if batch {
                    open.marks.add(Marks::BATCH);
                }
                self.tail.clear();
                self.tail
                    .extend_from_slice(b",\n      \"timing\": {\"sent_ms\": ");
                push_millis(open.at, &mut self.tail);
                self.tail.extend_from_slice(b", \"took_ms\": ");
                push_millis(event.at.since(open.at), &mut self.tail);
                self.tail.push(b'}');
                self.end.clear();
                push_end(&open, &mut self.end);
                let tail = [b",\n      \"response\": ", text, &self.tail];
                return self.ledger.close(
                    ordinal,
                    Rest {
                        tail,
                        end: &self.end,
                    },
                );
            }
            Answer::Duplicate => "duplicate response",
            Answer::TypeChanged => "id type changed",
            Answer::Nobody => "response to nobody",
        };
        self.beside(event, Content::Json(text), Remark::mark(mark))
    }

    fn reply(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        text: &[u8],
        batch: bool,
    ) -> io::Result<()> {
        match self.replies.answer(event.session.0, id) {
            Reply::Pairs(home) => self.place(event, home, text, plain(batch)),
            Reply::Duplicate => self.beside(
                event,
                Content::Json(text),
                Remark::mark("duplicate response"),
            ),
            Reply::Nobody => self.beside(
                event,
                Content::Json(text),
                Remark::mark("response to nobody"),
            ),
        }
    }

    fn noise(&mut self, event: &Event, text: &[u8], why: Malformed) -> io::Result<()> {
        // A text that was trimmed for its envelope is whole here: noise is kept as it came.
        let whole = match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } if bytes.trim_ascii() == text => bytes,
            _ => text,
        };
        let why_text = why.to_string();
        let remark = Remark {
            mark: Some("noise"),
            why: Some(&why_text),
        };
        self.beside(event, note::noise(whole, why), remark)
    }

    /// Puts a message into the stream of an exchange, or beside all of them.
    fn place(
        &mut self,
        event: &Event,
        home: Option<u64>,
        text: &[u8],
        remark: Remark<'_>,
    ) -> io::Result<()> {
        let Some(home) = home.filter(|home| self.pairing.is_open(*home)) else {
            return self.beside(event, Content::Json(text), remark);
        };
        self.entry.clear();
        self.entry.extend_from_slice(b",\n        {");
        note::push_members(event, Content::Json(text), remark, &mut self.entry);
        self.entry.push(b'}');
        self.ledger.stream(home, &self.entry)
    }

    /// Puts a message beside the exchanges.
    fn beside(
        &mut self,
        event: &Event,
        content: Content<'_>,
        remark: Remark<'_>,
    ) -> io::Result<()> {
        self.entry.clear();
        self.entry.extend_from_slice(b", ");
        note::push_members(event, content, remark, &mut self.entry);
        self.ledger.message(&self.entry)
    }

    fn abandon(&mut self, ordinal: u64, open: &Open) -> io::Result<()> {
        let why = self.ends.why(open);
        self.tail.clear();
        self.tail.extend_from_slice(b",\n      \"sent_ms\": ");
        push_millis(open.at, &mut self.tail);
        self.tail.extend_from_slice(b",\n      \"why\": ");
        push_string(why, &mut self.tail);
        self.end.clear();
        push_end(open, &mut self.end);
        let rest = Rest {
            tail: [&self.tail, b"", b""],
            end: &self.end,
        };
        self.ledger.abandon(ordinal, rest)
    }

    fn era(&mut self, event: &Event, envelope: &Envelope<'_>) -> Option<Era> {
        event.era.or_else(|| {
            self.eras
                .entry(event.session.0)
                .or_default()
                .observe(event.dir, envelope)
        })
    }
}

fn plain(batch: bool) -> Remark<'static> {
    Remark {
        mark: batch.then_some("batch"),
        why: None,
    }
}

/// Source text of the token under which a request asks for progress.
fn progress_token(params: &[u8]) -> Option<&[u8]> {
    // Spares most requests a second scan.
    memchr::memmem::find(params, b"progressToken")?;
    json::find(params, &["_meta", "progressToken"])
}

/// Appends what stands behind the stream of a request.
fn push_end(open: &Open, out: &mut Vec<u8>) {
    if let Some(era) = open.era {
        out.extend_from_slice(b",\n      \"era\": ");
        push_string(era.name(), out);
    }
    if open.session != 0 {
        out.extend_from_slice(b",\n      \"session\": ");
        push_number(open.session.into(), out);
    }
    for (place, word) in open.marks.words().enumerate() {
        out.extend_from_slice(if place == 0 {
            b",\n      \"marks\": ["
        } else {
            b", "
        });
        push_string(word, out);
    }
    if open.marks != Marks::default() {
        out.push(b']');
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
