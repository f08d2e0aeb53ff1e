//! From events to exchanges.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::LazyLock;

use foldhash::quality::RandomState;
use memchr::memmem::Finder;

use super::exchange::{Answered, Exchange, State};
use super::outcome::Outcome;
use super::{Answer, Handle, IdKey, Pairing, is_about_noise};
use crate::cassette::ends::Ends;
use crate::envelope::{Envelope, Kind, RequestId, for_each_message};
use crate::event::{
    ConduitId, Direction, Event, EventBody, Head, MessageNumber, Offset, Payload, Peer,
};
use crate::json;

/// Follows the requests of both sides from events to the end of their exchanges.
///
/// On the tape the true answer stands where it came, also when a fault kept it from its
/// receiver: here such a request goes on waiting, because its sender does.
///
/// # Bounded memory
///
/// At most 65,536 exchanges are followed at once; the oldest is forgotten for another, and
/// ends as [`Outcome::Unknown`].
#[derive(Debug)]
pub struct Conversation<T> {
    pub(super) exchanges: Pairing<Exchange<T>>,
    // By the numbers of the events that asked and answered them: findings name those.
    pub(super) numbered: BTreeSet<(u64, Handle)>,
    // What the last message of a stream asked or answered: a fault behind it is about it.
    pub(super) fresh: HashMap<Stream, Fresh, RandomState>,
    // Streams by when their messages came.
    fresh_ages: VecDeque<(Offset, Stream)>,
    // Those that are passed on at a time.
    pub(super) until: BTreeSet<(Offset, Handle)>,
    pub(super) carriers: HashMap<ConduitId, Carrier, RandomState>,
    // The last HTTP exchanges that ended: how long we had them is told behind their end.
    pub(super) closing: VecDeque<(ConduitId, Vec<Handle>)>,
    pub(super) ends: Ends,
    over: VecDeque<Over<T>>,
    pub(super) kept: VecDeque<Handle>,
    pub(super) now: Offset,
    gaps: u64,
}

/// A direction of a conduit.
pub(super) type Stream = (ConduitId, Direction);

/// The last message of a stream.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    at: Offset,
    pub(super) message: Option<MessageNumber>,
    /// What it asked or answered.
    pub(super) about: Vec<Handle>,
}

/// An HTTP exchange under way.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    pub(super) status: u16,
    pub(super) asked: Vec<Handle>,
}

/// An exchange that is over.
#[derive(Clone, Debug)]
pub struct Over<T> {
    /// The exchange.
    pub exchange: Exchange<T>,
    /// How it ended.
    pub outcome: Outcome,
    /// When.
    pub at: Offset,
}

/// One message, and what it has to do with an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, T> {
    /// What it is.
    pub envelope: &'a Envelope<'a>,
    /// Its text.
    pub text: &'a [u8],
    /// What it does.
    pub what: Does,
    /// The exchange that it is about, where there is one.
    pub exchange: Option<&'a Exchange<T>>,
    /// What names that exchange until it is over.
    pub handle: Option<Handle>,
}

/// What a message does to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It opens one.
    Asks,
    /// It answers one.
    Answers,
    /// It answers one that is over: that was answered before, or given up.
    Late,
    /// It answers nothing that is known.
    Orphan,
    /// It would answer one, had its id the type of that one's.
    TypeChanged,
    /// It tells of the progress of one.
    Progress,
    /// It gives one up.
    Cancels,
    /// Nothing: any other notification, one about nothing that is known, or no message.
    Nothing,
}

/// How many HTTP exchanges are followed at once.
const LIMIT: usize = 65_536;
/// How many streams may have a last message of which a fault may still tell, and for how
/// long.
const FRESH: usize = 4_096;
const FRESH_TIME: Offset = Offset(1_000_000);

impl<T> Default for Conversation<T> {
    fn default() -> Self {
        Self {
            exchanges: Pairing::default(),
            numbered: BTreeSet::new(),
            fresh: HashMap::default(),
            fresh_ages: VecDeque::new(),
            until: BTreeSet::new(),
            carriers: HashMap::default(),
            closing: VecDeque::new(),
            ends: Ends::default(),
            over: VecDeque::new(),
            kept: VecDeque::new(),
            now: Offset::default(),
            gaps: 0,
        }
    }
}

impl<T> Step<'_, T> {
    /// The exchange that it answers.
    #[must_use]
    pub fn answers(&self) -> Option<&Exchange<T>> {
        self.exchange.filter(|_| self.what == Does::Answers)
    }
}

impl<T: Default> Conversation<T> {
    /// Takes the next event; `message` is its message taken apart, where that is known.
    /// `each` is shown every single message.
    pub fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        mut each: impl FnMut(Step<'_, T>),
    ) {
        self.tick(event.at);
        self.ends.observe(event);
        match &event.body {
            EventBody::Message { payload, .. } => {
                self.settle_stream((event.conduit, event.dir));
                if let Payload::Whole(bytes) = payload {
                    self.payload(event, bytes, message, &mut each);
                } else {
                    self.gaps += 1;
                }
            }
            EventBody::Gap(_) => self.gaps += 1,
            EventBody::Opened(Peer::Client { .. }) if self.carriers.len() < LIMIT => {
                self.carriers.entry(event.conduit).or_default();
            }
            EventBody::Head(head) => {
                if let (Head::Response(head), Some(carrier)) =
                    (head.as_ref(), self.carriers.get_mut(&event.conduit))
                {
                    carrier.status = head.status;
                }
            }
            _ => self.beside_messages(event),
        }
    }

    /// It is `now`.
    pub fn tick(&mut self, now: Offset) {
        self.now = self.now.max(now);
        while let Some((due, handle)) = self.until.first().copied()
            && due <= self.now
        {
            self.answered(handle, due);
        }
        while let Some((at, stream)) = self.fresh_ages.front().copied()
            && (self.now.since(at) > FRESH_TIME || self.fresh_ages.len() > FRESH)
        {
            self.fresh_ages.pop_front();
            if self.fresh.get(&stream).is_some_and(|fresh| fresh.at == at) {
                self.settle_stream(stream);
            }
        }
    }

    /// The next exchange that is over.
    pub fn poll(&mut self) -> Option<Over<T>> {
        self.over.pop_front()
    }

    /// The next exchange that a fault keeps from its end.
    pub fn poll_kept(&mut self) -> Option<Handle> {
        self.kept.pop_front()
    }

    /// An exchange that is not over.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&Exchange<T>> {
        self.exchanges.get(handle)
    }

    /// An exchange that is not over.
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut Exchange<T>> {
        self.exchanges.get_mut(handle)
    }

    /// The exchanges that are not over, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &Exchange<T>)> {
        self.exchanges.iter()
    }

    fn payload(
        &mut self,
        event: &Event,
        bytes: &[u8],
        message: Option<&Envelope<'_>>,
        each: &mut impl FnMut(Step<'_, T>),
    ) {
        let parsed;
        let envelope = if let Some(envelope) = message {
            envelope
        } else {
            parsed = Envelope::parse(bytes);
            &parsed
        };
        if let Kind::Batch { .. } = envelope.kind {
            for_each_message(bytes, |one| {
                self.message(event, &Envelope::of_json(one), one, each);
            });
        } else {
            self.message(event, envelope, bytes, each);
        }
    }

    fn message(
        &mut self,
        event: &Event,
        envelope: &Envelope<'_>,
        text: &[u8],
        each: &mut impl FnMut(Step<'_, T>),
    ) {
        let mut cancelled = None;
        let (what, handle) = match &envelope.kind {
            Kind::Request { id, params, .. } => {
                let exchange = Exchange::new(event, text, envelope, self.gaps);
                (Does::Asks, Some(self.ask(event, exchange, id, *params)))
            }
            Kind::Response { id, error, .. } => {
                if is_about_noise(id, *error) {
                    (Does::Orphan, None)
                } else {
                    let answered = Answered::new(event, text, envelope);
                    self.answer(event, id, answered)
                }
            }
            Kind::Notification { method, params } => {
                let (what, handle) = self.notification(event, method, *params);
                cancelled = handle.filter(|_| what == Does::Cancels);
                (what, handle)
            }
            _ => (Does::Nothing, None),
        };
        each(Step {
            envelope,
            text,
            what,
            exchange: handle.and_then(|handle| self.exchanges.get(handle)),
            handle,
        });
        if let Some(handle) = cancelled {
            self.end(handle, Outcome::Cancelled, event.at);
        }
    }

    fn ask(
        &mut self,
        event: &Event,
        exchange: Exchange<T>,
        id: &RequestId<'_>,
        params: Option<&[u8]>,
    ) -> Handle {
        let asked = self.exchanges.ask(event.scope(), event.dir, id, exchange);
        if let Some(token) = params.and_then(progress_token) {
            self.exchanges
                .set_token(asked.handle, IdKey::exact_of(token));
        }
        self.numbered.insert((event.seq, asked.handle));
        if let Some(exchange) = asked.forgotten {
            let [first, last] = Handle::ENDS;
            let of_it = (exchange.seq, first)..=(exchange.seq, last);
            let gone: Vec<_> = self.numbered.range(of_it).copied().collect();
            for one in gone {
                if self.exchanges.get(one.1).is_none() {
                    self.numbered.remove(&one);
                }
            }
            let (outcome, at) = (Outcome::Unknown, event.at);
            self.over.push_back(Over {
                exchange,
                outcome,
                at,
            });
        }
        if event.dir == Direction::ToServer
            && let Some(carrier) = self.carriers.get_mut(&event.conduit)
        {
            carrier.asked.push(asked.handle);
        }
        self.freshen(event, asked.handle);
        asked.handle
    }

    fn answer(
        &mut self,
        event: &Event,
        id: &RequestId<'_>,
        answered: Answered,
    ) -> (Does, Option<Handle>) {
        match self.exchanges.meet(event.scope(), event.dir, id) {
            Answer::Pairs(handle, ()) => {
                if let Some(exchange) = self.exchanges.get_mut(handle) {
                    self.numbered.insert((answered.seq, handle));
                    exchange.state = State::Fresh;
                    exchange.answer = Some(answered);
                }
                self.freshen(event, handle);
                (Does::Answers, Some(handle))
            }
            Answer::TypeChanged(handle) => (Does::TypeChanged, Some(handle)),
            Answer::Duplicate => (Does::Late, None),
            Answer::Forgotten | Answer::Orphan => (Does::Orphan, None),
        }
    }

    fn notification(
        &mut self,
        event: &Event,
        method: &str,
        params: Option<&[u8]>,
    ) -> (Does, Option<Handle>) {
        let named = |name: &str| {
            let id = params.and_then(|params| json::find(params, &[name]));
            id.map(IdKey::exact_of)
        };
        let scope = event.scope();
        let (what, handle) = match method {
            "notifications/cancelled" => {
                let id = named("requestId");
                let one = id.and_then(|id| self.exchanges.cancel(scope, event.dir, id));
                (Does::Cancels, one)
            }
            "notifications/progress" => {
                let token = named("progressToken");
                let dir = event.dir.opposite();
                let one = token.and_then(|token| self.exchanges.by_token(scope, dir, token));
                (Does::Progress, one)
            }
            _ => (Does::Nothing, None),
        };
        let Some(exchange) = handle.and_then(|one| self.exchanges.get_mut(one)) else {
            return (Does::Nothing, None);
        };
        exchange.link(event.seq);
        (what, handle)
    }

    /// A message has asked or answered this.
    fn freshen(&mut self, event: &Event, handle: Handle) {
        let stream = (event.conduit, event.dir);
        let fresh = self.fresh.entry(stream).or_default();
        if fresh.about.is_empty() {
            fresh.at = event.at;
            fresh.message = message_number(event);
            self.fresh_ages.push_back((event.at, stream));
        }
        fresh.about.push(handle);
    }

    /// A stream goes on, or has been silent: no fault will tell of its last message any more.
    pub(super) fn settle_stream(&mut self, stream: Stream) {
        for handle in self.fresh.remove(&stream).unwrap_or_default().about {
            let exchange = self.exchanges.get(handle);
            let exchange = exchange.filter(|exchange| exchange.state == State::Fresh);
            if let Some(answer) = exchange.and_then(|exchange| exchange.answer.as_ref()) {
                let at = answer.at;
                self.answered(handle, at);
            }
        }
    }

    /// The answer of an exchange has reached its sender.
    pub(super) fn answered(&mut self, handle: Handle, at: Offset) {
        let exchange = self.exchanges.get(handle);
        let answer = exchange.and_then(|exchange| exchange.answer.as_ref());
        let outcome = match answer.map(|answer| answer.error) {
            Some(Some(_)) => Outcome::Error,
            _ => Outcome::Answered,
        };
        self.end(handle, outcome, at);
    }

    /// An exchange is over.
    pub(super) fn end(&mut self, handle: Handle, outcome: Outcome, at: Offset) {
        let Some(exchange) = self.exchanges.remove(handle) else {
            return;
        };
        self.numbered.remove(&(exchange.seq, handle));
        if let Some(answer) = &exchange.answer {
            self.numbered.remove(&(answer.seq, handle));
        }
        if let State::Until(due, _) = exchange.state {
            self.until.remove(&(due, handle));
        }
        let waits = matches!(outcome, Outcome::StillPending | Outcome::PeerGone);
        let outcome = match outcome {
            Outcome::StillPending if exchange.kept => Outcome::KeptByFault,
            _ if waits && exchange.gaps < self.gaps => Outcome::Unknown,
            _ => outcome,
        };
        self.over.push_back(Over {
            exchange,
            outcome,
            at,
        });
    }
}

fn message_number(event: &Event) -> Option<MessageNumber> {
    match &event.body {
        EventBody::Message { origin, .. } => origin.number,
        _ => None,
    }
}

/// Made once: to make it costs more than to use it on a small message.
static TOKEN_FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("progressToken"));

/// Source text of the token under which a request asks for progress.
pub(crate) fn progress_token(params: &[u8]) -> Option<&[u8]> {
    // Spares most requests a second scan.
    TOKEN_FINDER.find(params)?;
    json::find(params, &["_meta", "progressToken"])
}
