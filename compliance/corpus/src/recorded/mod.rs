//! Judging a recording by a corpus: nothing is sent, and a recorded request that matches a rule's
//! is judged with its answer.
//!
//! A [`Recorded`] is a fold over events, like every judge. A rule that nothing in the recording
//! tests is untested, which is never the same as passed.
//!
//! # Bounded memory
//!
//! At most 4,096 requests are followed at once, each with up to a megabyte of messages before its
//! answer if a rule needs them, and 10,000 names of each list.

mod about;
mod asking;
mod conduit;
mod end;
mod exchange;
mod finish;
mod groups;
mod head;
mod index;
mod look;
mod looks;
mod memory;
mod question;
mod raw;
mod rounds;
mod sessions;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use bytes::Bytes;
use foldhash::quality::RandomState;
use serde_json::Value;
use tapewright_schemas::conversation::{Conversation, Does, Handle, OldestFirst, Step};
use tapewright_schemas::envelope::{Envelope, Kind, is_error_of_ours};
use tapewright_schemas::era::Era;
use tapewright_schemas::event::{
    Direction, Event, EventBody, Head, Payload, ResponseHead, SessionKey, Sink,
};
use tapewright_schemas::json;

pub use self::finish::PATIENCE_MS;
pub use self::raw::answers_raw;

use self::about::RequestSubject;
use self::conduit::Conduits;
use self::exchange::{BETWEEN_BYTES, Finished, ObservedExchange, ReplySource, source};
use self::groups::Groups;
use self::head::SESSION;
use self::index::Index;
use self::memory::Memory;
use self::rounds::Rounds;
use self::sessions::{Issued, SessionFacts};
use crate::observation::{Framing, Reply};
use crate::plan::{Facts, Plan, Tally};
use crate::rounds::may_be_required;
use crate::rule::Applies;

/// Judges the exchanges of a recording by the rules of a plan.
#[derive(Debug)]
pub struct Recorded<'p> {
    plan: &'p Plan,
    index: Index<'p>,
    /// The revision of the corpus, in the form of the protocol.
    revision: String,
    timed: bool,
    facts: Facts,
    tally: Tally,
    // Taken out while it handles a message.
    conversation: Option<Box<Conversation<()>>>,
    open: OldestFirst<ObservedExchange>,
    conduits: Conduits,
    sessions: HashMap<SessionKey, SessionFacts, RandomState>,
    groups: Groups,
    rounds: Rounds,
    memory: Memory,
    // The subject of most requests, which test nothing, and the name of their methods.
    nothing: Rc<RequestSubject>,
    unnamed: Rc<str>,
    // A buffer for the examined parts of a message.
    scratch: Vec<u8>,
    // Whether a server in earlier recordings continued after a cancellation.
    went_on: Option<bool>,
    // The number of recordings that were read before this one.
    recording: usize,
    framing: Framing,
    tokens: BTreeSet<String>,
    issued: Issued,
    // The number of open requests that collect messages other than their answers.
    listening: usize,
    gaps: u64,
    exchanges: u64,
}

/// Properties of a recording that affect its judgement.
#[derive(Clone, Debug)]
pub struct Source {
    /// The revision to judge by, as peers write it.
    pub revision: String,
    /// The transport of its messages, if its events do not show it.
    pub transport: Option<Applies>,
    /// Its events have times.
    pub timed: bool,
}

/// The result of a recording.
#[derive(Debug)]
pub struct Judged {
    /// The verdicts.
    pub tally: Tally,
    /// The facts that decide which rules apply.
    pub facts: Facts,
    /// The number of answered requests of the client.
    pub exchanges: u64,
    /// The number of gaps.
    pub gaps: u64,
}

/// The maximum number of requests that are followed at once.
const OPEN: usize = 4_096;
/// The maximum number of sessions, and of tokens.
const MOST: usize = 4_096;

impl<'p> Recorded<'p> {
    /// Creates a judge at the beginning of a recording.
    #[must_use]
    pub fn new(plan: &'p Plan, source: Source) -> Self {
        Self {
            index: Index::new(plan),
            plan,
            revision: source.revision,
            timed: source.timed,
            facts: Facts::default(),
            tally: Tally::default(),
            conversation: Some(Box::new(Conversation::of_handles())),
            open: OldestFirst::default(),
            conduits: Conduits::new(source.transport),
            sessions: HashMap::default(),
            groups: Groups::default(),
            rounds: Rounds::default(),
            memory: Memory::default(),
            nothing: Rc::default(),
            unnamed: "".into(),
            scratch: Vec::new(),
            went_on: None,
            recording: 0,
            framing: Framing::default(),
            tokens: BTreeSet::new(),
            issued: Issued::default(),
            listening: 0,
            gaps: 0,
            exchanges: 0,
        }
    }

    /// Handles the next event; `message` is its parsed message, if known.
    pub fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        let transport = self.conduits.enter(event).transport;
        if let EventBody::Faulted(_) = event.body {
            return self.tampered(event);
        }
        self.release(event);
        let mut is_raw = false;
        match &event.body {
            EventBody::Message { payload, .. } => {
                self.facts_of(transport);
                match payload {
                    Payload::Whole(bytes) => is_raw = self.is_raw(event, bytes, message),
                    Payload::Clipped { .. } => self.gaps += 1,
                }
            }
            EventBody::Body { payload } => self.body(event, payload),
            EventBody::Gap(_) => self.gaps += 1,
            EventBody::Head(head) => {
                if let Head::Response(head) = head.as_ref() {
                    self.issued(event, head);
                }
                self.bodiless(event);
            }
            EventBody::Closed(_) => self.closed(event),
            _ => {}
        }
        let Some(mut conversation) = self.conversation.take() else {
            return;
        };
        conversation.observe(event, message, |step| {
            if !is_raw {
                self.step(event, &step);
            }
        });
        self.conversation = Some(conversation);
    }

    /// A server that issues a session id has sessions, until it accepts that one is deleted.
    fn issued(&mut self, event: &Event, head: &ResponseHead) {
        if let Some(id) = head.fields.get(SESSION) {
            self.facts.known.shown.sessions = true;
            self.issued.give(id);
        }
        let request = self.conduits.enter(event).request.as_ref();
        let ended = request.filter(|asked| asked.method == "DELETE" && head.status / 100 == 2);
        if let Some(id) = ended.and_then(|asked| asked.fields.get(SESSION)) {
            self.issued.end(id);
        }
    }

    fn facts_of(&mut self, transport: Option<Applies>) {
        if let Some(transport) = transport
            && !self.facts.transports.contains(&transport)
        {
            self.facts.transports.push(transport);
        }
    }

    /// Whether a payload matches the raw text of some assertion.
    fn is_raw(&mut self, event: &Event, bytes: &Bytes, message: Option<&Envelope<'_>>) -> bool {
        self.frame(event, bytes, message);
        event.dir == Direction::ToServer && self.raw_message(event, bytes)
    }

    /// Counts a line of the server.
    fn frame(&mut self, event: &Event, bytes: &[u8], message: Option<&Envelope<'_>>) {
        let stdio = self.conduits.enter(event).transport == Some(Applies::Stdio);
        if event.dir != Direction::ToClient || !stdio || event.is_made_by_us() {
            return;
        }
        let is_message = match message {
            Some(envelope) => !matches!(envelope.kind, Kind::Malformed(_)),
            None => !matches!(Envelope::parse(bytes).kind, Kind::Malformed(_)),
        };
        if is_message {
            self.framing.message();
        } else {
            self.framing.noise(bytes);
        }
    }

    fn step(&mut self, event: &Event, step: &Step<'_, ()>) {
        let text = step.text;
        match (&step.envelope.kind, event.dir) {
            (Kind::Request { .. }, Direction::ToServer) => self.ask(event, step),
            (Kind::Response { id, result, error }, Direction::ToClient) => {
                let is_answer = matches!(step.what, Does::Answers | Does::Late);
                if self.raw_answer(event, id, *result, *error) {
                    return;
                }
                let answered = step.handle.filter(|_| is_answer);
                if let Some(exchange) = answered.and_then(|one| self.open.remove(one)) {
                    self.answer(event, exchange, *result, *error);
                }
            }
            (Kind::Notification { method, params }, Direction::ToServer)
                if method == "notifications/cancelled" =>
            {
                self.cancel(event, step.handle, *params);
                self.notifies(event, text, method, *params);
            }
            (Kind::Notification { method, params }, Direction::ToServer) => {
                self.notifies(event, text, method, *params);
            }
            (Kind::Notification { .. } | Kind::Request { .. }, Direction::ToClient)
            | (Kind::Response { .. }, Direction::ToServer) => self.beside(event, text),
            _ => {}
        }
    }

    fn ask(&mut self, event: &Event, step: &Step<'_, ()>) {
        let (envelope, Some(handle)) = (step.envelope, step.handle) else {
            return;
        };
        let Kind::Request { id, method, params } = &envelope.kind else {
            return;
        };
        let params = *params;
        let Some(asks) = self.index.method(method).map(Rc::clone) else {
            // Followed all the same: its answer shows that a server continues.
            let exchange = self.exchange(event, Rc::clone(&self.unnamed));
            self.follow(handle, exchange);
            return;
        };
        let question = self.question(event, &asks, params);
        let revision = question.as_ref().and_then(|one| one.revision.as_deref());
        self.session_of(event, method, revision);
        let mut exchange = self.exchange(event, Rc::clone(&asks.method));
        if let Some(question) = question {
            let well_formed =
                envelope.version == Some(b"\"2.0\"") && !envelope.repeated_member && id.pairs();
            exchange.token = params.filter(|_| question.has_token).and_then(token);
            exchange.teaches = asks.teaches && well_formed;
            if well_formed && !question.about.is_empty() && self.is_of_use(event, method) {
                exchange.about = Rc::clone(&question.about);
                exchange.listens = question.about.listens;
                exchange.params = params.map(|params| source(event, params));
            }
            if let Some(token) = &exchange.token
                && self.tokens.len() < MOST
            {
                self.tokens.insert(token.clone());
            }
            if question.is_again && !exchange.about.is_empty() {
                self.goes_on(&mut exchange);
            }
        }
        self.listening += usize::from(exchange.listens);
        self.follow(handle, exchange);
        self.conduits.enter(event).last = Some(handle);
    }

    /// Waits for the answer.
    fn follow(&mut self, handle: Handle, exchange: ObservedExchange) {
        let mut forgotten = self.open.insert(handle, exchange);
        if self.open.len() > OPEN {
            forgotten = forgotten.or_else(|| self.open.pop_oldest());
        }
        if let Some(forgotten) = forgotten {
            self.finish_exchange(forgotten, None, true);
        }
    }

    fn exchange(&mut self, event: &Event, method: Rc<str>) -> ObservedExchange {
        let transport = self.conduits.enter(event).transport;
        ObservedExchange {
            method,
            params: None,
            about: Rc::clone(&self.nothing),
            at: event.at,
            session: event.session,
            transport,
            between: Vec::new(),
            room: BETWEEN_BYTES,
            cancelled: None,
            gaps: self.gaps,
            tampered: false,
            listens: false,
            token: None,
            teaches: false,
            rounds: 0,
        }
    }

    fn answer(
        &mut self,
        event: &Event,
        exchange: ObservedExchange,
        result: Option<&[u8]>,
        error: Option<&[u8]>,
    ) {
        self.exchanges += 1;
        self.listening = self.listening.saturating_sub(usize::from(exchange.listens));
        self.went_on(exchange.session, exchange.cancelled.is_some());
        let ours = event.is_made_by_us() || error.is_some_and(is_error_of_ours);
        if exchange.about.is_empty() && !exchange.teaches {
            return;
        }
        let said = ReplySource::of(event, result, error);
        let mut exchange = exchange;
        if !ours {
            self.learn(&exchange, &said);
            if may_be_required(&exchange.method, result) {
                match self.asks_for_input(event, exchange, &said.reply()) {
                    Some(over) => exchange = over,
                    None => return,
                }
            }
        }
        let conduit = self.conduits.enter(event);
        let finished = Finished {
            took_us: Some(event.at.since(exchange.at).0),
            seq: Some(event.seq),
            gap: false,
            in_place: ours || conduit.in_place,
            head: conduit.response.clone(),
            said,
            exchange,
        };
        if !finished.exchange.about.is_empty() {
            conduit.held.push(finished);
        }
    }

    /// Handles what an answer reports about the server and the session.
    fn learn(&mut self, exchange: &ObservedExchange, said: &ReplySource) {
        let ReplySource::Result(source) = said else {
            return;
        };
        let opens = exchange.method.as_ref() == "initialize";
        if !exchange.teaches || (!opens && self.memory.is_known_lesson(&exchange.method, source)) {
            return;
        }
        let Reply::Result(result) = said.reply() else {
            return;
        };
        let before = self.facts.known.extent();
        self.facts.known.learn(&exchange.method, &result);
        if self.facts.known.extent() != before {
            self.memory.forget_questions();
        }
        if opens {
            let version = result.get("protocolVersion").and_then(Value::as_str);
            let session = self.sessions.entry(exchange.session).or_default();
            session.revision = version.map(str::to_owned);
        }
    }

    /// Handles a message outside the exchanges of its session.
    fn beside(&mut self, event: &Event, text: &[u8]) {
        if self.listening == 0 {
            return;
        }
        let listening = self.open.iter().filter(|(_, one)| one.listens);
        let here = listening.filter(|(_, one)| one.session == event.session);
        let handles: Vec<_> = here.map(|(handle, _)| handle).collect();
        if handles.is_empty() {
            return;
        }
        let token = progress_token(text);
        let known = token
            .as_ref()
            .is_some_and(|token| self.tokens.contains(token));
        for handle in handles {
            let Some(exchange) = self.open.get_mut(handle) else {
                continue;
            };
            // Progress of another request does not belong to it.
            if !known || token == exchange.token {
                exchange.hear(event.dir, text);
            }
        }
    }

    fn era(&self) -> Era {
        Era::of_revision(Some(&self.revision))
    }
}

impl Sink for Recorded<'_> {
    fn record(&mut self, event: &Event) {
        self.observe(event, None);
    }
}

/// The token that a message of progress names, as source text.
fn progress_token(text: &[u8]) -> Option<String> {
    let is_progress = json::find(text, &["method"]) == Some(b"\"notifications/progress\"");
    let token = json::find(text, &["params", "progressToken"]).filter(|_| is_progress)?;
    serde_json::from_slice::<Value>(token)
        .ok()
        .map(|token| token.to_string())
}

/// The progress token in parameters.
fn token(params: &[u8]) -> Option<String> {
    let token = json::valid_member(json::valid_member(params, "_meta")?, "progressToken")?;
    let token: Value = serde_json::from_slice(token).ok()?;
    Some(token.to_string())
}
