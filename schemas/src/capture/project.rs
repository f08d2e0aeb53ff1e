//! From events to a capture.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Read, Seek, Write};

use crate::cassette::text::push_string;
use crate::cassette::{Assembly, ExchangeOrder, Rest, Summary};
use crate::conversation::{Conversation, Does, Handle, PerExchange, Step};
use crate::envelope::{Envelope, Kind};
use crate::event::{Direction, Event, EventBody};
use crate::http_exchange::HttpExchanges;
use crate::json;
use crate::json::push_number;
use crate::tape::{Ending, GapTotal, Header, Incomplete};

/// Folds events into a capture.
///
/// Feed it every event in order with [`observe`](Self::observe), then write the file with
/// [`finish`](Self::finish). The spools must be empty; their contents afterwards are unspecified.
#[derive(Debug)]
pub struct Projector<S: Write> {
    conversation: Conversation<()>,
    entries: Entries<S>,
}

/// The contents of the capture, collected from the conversation.
#[derive(Debug)]
struct Entries<S: Write> {
    label: String,
    // The recorder, if known.
    by: String,
    gaps: GapTotal,
    exchange_order: ExchangeOrder<S>,
    // Those that await their response.
    open: PerExchange<Open>,
    exchanges: HttpExchanges,
    sessions: BTreeMap<u32, SessionHead>,
    beyond_probes: u64,
    requests: u64,
}

/// A request that awaits its response.
#[derive(Debug)]
struct Open {
    ordinal: u64,
    /// Its position among the entries of its session.
    place: u64,
    is_handshake: bool,
    /// The later exchange that reuses its id.
    reused_by: Option<Handle>,
}

#[derive(Debug, Default)]
struct SessionHead {
    label: Option<String>,
    // Exchanges that belong to no session.
    sessionless: bool,
    // Source text, once an `initialize` was answered with a result.
    capabilities: Option<Vec<u8>>,
    // The number of requests and notifications so far.
    entries: u64,
}

impl<S: Read + Write + Seek> Projector<S> {
    /// Creates a projector at the start of a recording.
    #[must_use]
    pub fn new(header: &Header, spool: S, messages_spool: S) -> Self {
        let entries = Entries {
            label: label(header),
            by: header.by.clone(),
            gaps: GapTotal::default(),
            exchange_order: ExchangeOrder::new(spool, messages_spool),
            open: PerExchange::default(),
            exchanges: HttpExchanges::default(),
            sessions: BTreeMap::new(),
            beyond_probes: 0,
            requests: 0,
        };
        Self {
            conversation: Conversation::of_handles(),
            entries,
        }
    }

    /// Sets the label of one session's server, if it differs from the one in the header.
    #[must_use]
    pub fn with_session(mut self, session: u32, label: &str, capabilities: Option<&[u8]>) -> Self {
        let capabilities = capabilities.map(<[u8]>::to_vec);
        self.entries.sessions.insert(
            session,
            SessionHead {
                label: Some(label.to_owned()),
                capabilities,
                ..SessionHead::default()
            },
        );
        self
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
        entries.exchanges.observe(event);
        if entries.sees(event) {
            let mut outcome = Ok(());
            conversation.observe(event, message, |step| {
                if outcome.is_ok() {
                    outcome = entries.step(event, &step);
                }
            });
            outcome?;
        }
        entries.settle_exchanges()
    }

    /// Writes the capture.
    pub fn finish(self, ending: &Ending, out: &mut dyn Write) -> io::Result<Summary> {
        let mut end = self.entries.end(ending)?;
        end.write(out)?;
        Ok(end.summary)
    }

    /// Like [`finish`](Self::finish), but returns the spool that contains the capture: the
    /// projector's first spool, which is the capture of a single session except for its last lines,
    /// or `other`, which is only created when more must change.
    pub fn finish_in_place(
        self,
        ending: &Ending,
        other: impl FnOnce() -> io::Result<S>,
    ) -> io::Result<(Summary, S)> {
        let mut end = self.entries.end(ending)?;
        let in_place = match end.heads.as_slice() {
            [(_, head)] => end.assembly.begins_with(head),
            _ => false,
        };
        if !in_place {
            let mut other = other()?;
            end.write(&mut other)?;
            return Ok((end.summary, other));
        }
        let (mut main, _) = end.assembly.into_parts()?;
        main.write_all(CLOSE)?;
        main.write_all(b"\n")?;
        Ok((end.summary, main))
    }
}

impl<S: Read + Write + Seek> Entries<S> {
    /// Handles an event that is not a message. Returns false for a message that is sent again.
    fn sees(&mut self, event: &Event) -> bool {
        match &event.body {
            EventBody::Gap(gap) => self.gaps.add(gap),
            // One that is sent again is not.
            EventBody::Message { .. } => return !self.exchanges.about(event).replayed,
            _ => {}
        }
        true
    }

    /// Requests whose HTTP exchange is over have no response.
    fn settle_exchanges(&mut self) -> io::Result<()> {
        while let Some((_, exchange)) = self.exchanges.poll_over() {
            // In a session the answer may still come on another stream.
            if exchange.session.0 != 0 && exchange.status() < 400 {
                continue;
            }
            for request in exchange.requests {
                if let Some(open) = self.open.remove(request) {
                    self.exchange_order.close(open.ordinal, Rest::default())?;
                }
            }
        }
        Ok(())
    }

    /// Settles everything.
    fn end(mut self, ending: &Ending) -> io::Result<End<S>> {
        let mut unanswered = 0;
        for (_, open) in self.open.drain() {
            unanswered += 1;
            self.exchange_order.close(open.ordinal, Rest::default())?;
        }
        if self.sessions.is_empty() {
            self.sessions.insert(0, SessionHead::default());
        }
        let lacks = Incomplete::of(ending, self.gaps);
        let heads = self.sessions.iter();
        let heads = heads
            .map(|(key, session)| (*key, self.head(*key, session, lacks.as_ref())))
            .collect();
        let probe_only = self.requests > 0 && self.beyond_probes == 0;
        let assembly = self.exchange_order.finish()?;
        Ok(End {
            summary: Summary {
                exchanges: assembly.exchanges(),
                unanswered,
                messages: 0,
                http: 0,
                probe_only,
            },
            assembly,
            heads,
        })
    }

    /// The text before the exchanges of a session.
    fn head(&self, key: u32, session: &SessionHead, lacks: Option<&Incomplete>) -> Vec<u8> {
        let mut text = b"{\n  \"server_label\": ".to_vec();
        push_string(session.label.as_ref().unwrap_or(&self.label), &mut text);
        if session.sessionless {
            text.extend_from_slice(b",\n  \"sessionless\": true");
        } else if self.sessions.len() > 1 {
            text.extend_from_slice(b",\n  \"session\": ");
            push_number(key.into(), &mut text);
        }
        self.push_recorded(lacks, &mut text);
        text.extend_from_slice(b",\n  \"server_capabilities\": ");
        text.extend_from_slice(session.capabilities.as_deref().unwrap_or(b"null"));
        text.extend_from_slice(b",\n  \"exchanges\": [");
        text
    }

    /// Passes the beginning of the capture to [`ExchangeOrder`], as far as it is known: with a
    /// single session, and nothing missing.
    fn begin(&mut self, key: u32) {
        if self.exchange_order.has_begun() {
            return;
        }
        let session = self.sessions.get(&key);
        let head = session.map(|session| self.head(key, session, None));
        self.exchange_order.set_head(head.unwrap_or_default());
    }

    fn step(&mut self, event: &Event, step: &Step<'_, ()>) -> io::Result<()> {
        let (session, text) = (event.session.0, step.text.trim_ascii());
        match (&step.envelope.kind, event.dir, step.handle) {
            (Kind::Request { method, .. }, Direction::ToServer, Some(handle)) => {
                self.session(event);
                self.requests += 1;
                self.beyond_probes += u64::from(method != "server/discover");
                let open = Open {
                    ordinal: self.exchange_order.open(session, text)?,
                    place: self.entries(session),
                    is_handshake: method == "initialize",
                    reused_by: None,
                };
                if let Some(before) = step.reuses.and_then(|one| self.open.get_mut(one)) {
                    before.reused_by = Some(handle);
                }
                if let Some(exchange) = self.exchanges.get_mut(event.conduit) {
                    exchange.requests.push(handle);
                }
                match self.open.insert(handle, open) {
                    Some(forgotten) => self
                        .exchange_order
                        .close(forgotten.ordinal, Rest::default()),
                    None => Ok(()),
                }
            }
            (Kind::Notification { .. }, Direction::ToServer, _) => {
                self.session(event);
                self.exchange_order.enter(session, text)
            }
            (Kind::Response { result, .. }, Direction::ToClient, Some(handle))
                if matches!(step.what, Does::Answers | Does::Late) =>
            {
                self.answer(event, step, handle, *result)
            }
            _ => Ok(()),
        }
    }

    fn session(&mut self, event: &Event) {
        let session = self.sessions.entry(event.session.0).or_default();
        session.sessionless |= event.scope().is_sessionless();
        session.entries += 1;
        self.begin(event.session.0);
    }

    /// The number of requests and notifications of a session so far.
    fn entries(&self, session: u32) -> u64 {
        let session = self.sessions.get(&session);
        session.map_or(0, |session| session.entries)
    }

    /// Appends the member with the recorder, and what is missing.
    fn push_recorded(&self, lacks: Option<&Incomplete>, text: &mut Vec<u8>) {
        if self.by.is_empty() {
            return;
        }
        text.extend_from_slice(b",\n  \"recorded\": {\"by\": ");
        push_string(&self.by, text);
        if let Some(lacks) = lacks {
            text.extend_from_slice(b", \"incomplete\": ");
            push_string(lacks.why.name(), text);
            if let Some(detail) = &lacks.detail {
                text.extend_from_slice(b", \"incomplete_detail\": ");
                push_string(detail, text);
            }
        }
        text.push(b'}');
    }

    fn answer(
        &mut self,
        event: &Event,
        step: &Step<'_, ()>,
        handle: Handle,
        result: Option<&[u8]>,
    ) -> io::Result<()> {
        let Some(open) = self.open.remove(handle) else {
            return Ok(());
        };
        if let (true, Some(result)) = (open.is_handshake, result) {
            let negotiated = json::find(result, &["capabilities"]);
            let session = self.sessions.entry(event.session.0).or_default();
            if session.capabilities.is_none() {
                session.capabilities = negotiated.map(<[u8]>::to_vec);
                self.begin(event.session.0);
            }
        }
        let tail = [b",\n      \"response\": ", step.text.trim_ascii(), b""];
        let mut end = Vec::new();
        let sent = self.entries(event.session.0);
        if !self.by.is_empty() && open.place < sent {
            end.extend_from_slice(b",\n      \"answered_after\": ");
            push_number(sent, &mut end);
        }
        // A reader of the file could not tell which of two answers with the same id came first.
        let later = open.reused_by.filter(|_| step.what == Does::Late);
        if later.is_some_and(|later| self.open.get(later).is_none()) {
            end.extend_from_slice(b",\n      \"late\": true");
        }
        self.exchange_order
            .close(open.ordinal, Rest { tail, end: &end })
    }
}

/// A complete capture.
struct End<S> {
    assembly: Assembly<S>,
    summary: Summary,
    // The text before the exchanges of each session.
    heads: Vec<(u32, Vec<u8>)>,
}

impl<S: Read + Write + Seek> End<S> {
    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(64 << 10, out);
        let several = self.heads.len() > 1;
        let mut separator: &[u8] = if several { b"[\n" } else { b"" };
        for (key, head) in &self.heads {
            out.write_all(separator)?;
            separator = b",\n";
            out.write_all(head)?;
            let any = self.assembly.write_exchanges(Some(*key), &mut out)?;
            out.write_all(if any { CLOSE } else { b"]\n}" })?;
        }
        out.write_all(if several { b"\n]\n" } else { b"\n" })?;
        out.flush()
    }
}

/// The text after the exchanges of a session that has any.
const CLOSE: &[u8] = b"\n  ]\n}";

/// The label of the server of a recording without one.
fn label(header: &Header) -> String {
    if !header.label.is_empty() {
        return header.label.clone();
    }
    let program = header
        .command
        .first()
        .and_then(|program| program.rsplit(['/', '\\']).next());
    let transport = if header.transport.is_empty() {
        "stdio"
    } else {
        &header.transport
    };
    format!("{transport}://{}", program.unwrap_or("unknown"))
}
