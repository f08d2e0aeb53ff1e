//! From events to exchanges.

use std::collections::{BTreeSet, HashMap, VecDeque};

use foldhash::quality::RandomState;

use super::answers::progress_token;
use super::exchange::{Answered, Exchange, State};
use super::outcome::Outcome;
use super::step::{Does, Over, Step};
use super::{Handle, IdKey, Pairing};
use crate::cassette::ends::Ends;
use crate::envelope::{Envelope, Kind, RequestId, for_each_message};
use crate::event::{
    ConduitId, Direction, Event, EventBody, FaultRef, Head, MessageNumber, Offset, Payload, Peer,
};

/// Follows the requests of both sides from events to the end of their exchanges.
///
/// On the tape the original answer is where it arrived, even if a fault kept it from its receiver:
/// here such a request remains pending, because its sender is still waiting.
///
/// # Bounded memory
///
/// At most 65,536 exchanges are followed at once; beyond that, the oldest is forgotten and ends as
/// [`Outcome::Unknown`]. Of those that ended without an answer the last 4,096 are remembered, so
/// that a late answer can be matched with them.
#[derive(Debug)]
pub struct Conversation<T> {
    pub(super) exchanges: Pairing<Box<Exchange<T>>>,
    // A finished exchange, for reuse of its allocation.
    spare_exchange: Option<Box<Exchange<T>>>,
    // Those that ended without an answer, by when they did.
    given_up: VecDeque<Handle>,
    // The requests that the last message of a stream asked or answered: a following fault is about
    // them.
    pub(super) fresh: HashMap<Stream, Fresh, RandomState>,
    // An unused list, for reuse of its allocation.
    spare: Vec<Handle>,
    // Streams by the time of their messages.
    fresh_ages: VecDeque<(Offset, Stream)>,
    // Those that are passed on at a time.
    pub(super) until: BTreeSet<(Offset, Handle)>,
    pub(super) carriers: HashMap<ConduitId, Carrier, RandomState>,
    // The last HTTP exchanges that ended: how long the recorder held them is reported after their
    // end.
    pub(super) closing: VecDeque<(ConduitId, Vec<Handle>)>,
    pub(super) ends: Ends,
    // Lines that a fault cut.
    pub(super) broken: HashMap<ConduitId, FaultRef, RandomState>,
    over: VecDeque<Over<T>>,
    pub(super) kept: VecDeque<Handle>,
    pub(super) now: Offset,
    gaps: u64,
    // Exchanges record what they refer to and how they end.
    describes: bool,
}

/// One message of an event.
#[derive(Clone, Copy)]
struct Part<'a> {
    event: &'a Event,
    text: &'a [u8],
    is_member: bool,
}

/// The exchange that a request opened.
#[derive(Clone, Copy, Default)]
struct Opened {
    handle: Option<Handle>,
    reuses: Option<Handle>,
    again: bool,
    forgotten: Option<Handle>,
}

/// A direction of a conduit.
pub(super) type Stream = (ConduitId, Direction);

/// The last message of a stream.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    at: Offset,
    pub(super) message: Option<MessageNumber>,
    /// The requests that it asked or answered.
    pub(super) about: Vec<Handle>,
}

/// An HTTP exchange in progress.
#[derive(Debug, Default)]
pub(super) struct Carrier {
    pub(super) status: u16,
    pub(super) asked: Vec<Handle>,
}

/// The maximum number of HTTP exchanges that are followed at once, and of exchanges that wait for [`poll_kept`](Conversation::poll_kept).
pub(super) const LIMIT: usize = 65_536;
/// The number of streams whose last message a fault may still refer to, and for how long.
const FRESH: usize = 4_096;
const FRESH_TIME: Offset = Offset(1_000_000);
/// The number of exchanges that are remembered after they ended without an answer.
pub(super) const GIVEN_UP: usize = 4_096;

impl<T> Default for Conversation<T> {
    fn default() -> Self {
        Self {
            exchanges: Pairing::default(),
            spare_exchange: None,
            given_up: VecDeque::new(),
            fresh: HashMap::default(),
            spare: Vec::new(),
            fresh_ages: VecDeque::new(),
            until: BTreeSet::new(),
            carriers: HashMap::default(),
            closing: VecDeque::new(),
            ends: Ends::default(),
            broken: HashMap::default(),
            over: VecDeque::new(),
            kept: VecDeque::new(),
            now: Offset::default(),
            gaps: 0,
            describes: true,
        }
    }
}

impl<T: Default> Conversation<T> {
    /// Reports what messages do to exchanges, but neither what exchanges are about nor how they
    /// end, for code that sees all messages and writes them down: ids, methods and names are empty,
    /// errors in results are not detected, [`poll`](Self::poll) returns nothing, and faults change
    /// nothing.
    #[must_use]
    pub fn of_handles() -> Self {
        Self {
            describes: false,
            ..Self::default()
        }
    }

    /// Compares ids by value: `2.0` answers `2`, and `"2"` does not. For code that judges how peers
    /// use ids, regardless of how a number is spelled.
    #[must_use]
    pub fn by_value(mut self) -> Self {
        self.exchanges = self.exchanges.by_value();
        self
    }

    /// Handles the next event; `message` is its parsed message, if known. `each` is called for
    /// every single message.
    pub fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        mut each: impl FnMut(Step<'_, T>),
    ) {
        if self.describes {
            self.tick(event.at);
            self.ends.observe(event);
        }
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
            EventBody::Head(head) => self.head(event.conduit, head),
            _ => self.beside_messages(event),
        }
    }

    /// It is `now`.
    pub fn tick(&mut self, now: Offset) {
        self.now = self.now.max(now);
        while let Some((due, handle)) = self.until.first().copied()
            && due <= self.now
        {
            self.until.pop_first();
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

    /// Takes the next exchange that is over.
    pub fn poll(&mut self) -> Option<Over<T>> {
        self.over.pop_front()
    }

    /// Takes the next exchange that a fault prevents from ending. The last 65,536 are kept for it.
    pub fn poll_kept(&mut self) -> Option<Handle> {
        self.kept.pop_front()
    }

    /// An exchange that is not over.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&Exchange<T>> {
        let exchange = self.exchanges.get(handle).map(|one| &**one);
        exchange.filter(|exchange| exchange.state != State::GivenUp)
    }

    /// An exchange that is not over.
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut Exchange<T>> {
        let exchange = self.exchanges.get_mut(handle).map(|one| &mut **one);
        exchange.filter(|exchange| exchange.state != State::GivenUp)
    }

    /// The exchanges that are not over, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &Exchange<T>)> {
        let all = self.exchanges.iter();
        let all = all.map(|(handle, exchange)| (handle, &**exchange));
        all.filter(|(_, exchange)| exchange.state != State::GivenUp)
    }

    fn head(&mut self, conduit: ConduitId, head: &Head) {
        match head {
            Head::Request(_) if self.carriers.len() < LIMIT => {
                self.carriers.entry(conduit).or_default();
            }
            Head::Response(head) => {
                if let Some(carrier) = self.carriers.get_mut(&conduit) {
                    carrier.status = head.status;
                }
            }
            _ => {}
        }
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
        match envelope.kind {
            Kind::Batch { members } if members > 0 => for_each_message(bytes, |one| {
                let part = Part {
                    event,
                    text: one,
                    is_member: true,
                };
                self.message(part, &Envelope::of_json(one), each);
            }),
            _ => {
                let part = Part {
                    event,
                    text: bytes,
                    is_member: false,
                };
                self.message(part, envelope, each);
            }
        }
    }

    fn message(
        &mut self,
        part: Part<'_>,
        envelope: &Envelope<'_>,
        each: &mut impl FnMut(Step<'_, T>),
    ) {
        let Part { event, text, .. } = part;
        let mut opened = Opened::default();
        let (what, handle) = match &envelope.kind {
            Kind::Request { id, method, params } => {
                let mut exchange = Exchange::new(event, text, envelope, self.gaps);
                if self.describes {
                    exchange.describe(text, id, method, *params);
                }
                opened = self.ask(event, exchange, id, *params);
                opened.reuses = opened.reuses.filter(|_| id.pairs());
                (Does::Asks, opened.handle)
            }
            Kind::Response { id, error, .. } => {
                let describes = self.describes;
                let answered = || Answered::new(event, text, envelope, describes);
                self.answer(event, id, *error, answered)
            }
            Kind::Notification { method, params } => self.notification(event, method, *params),
            _ => (Does::Nothing, None),
        };
        each(Step {
            envelope,
            text,
            what,
            exchange: handle.and_then(|handle| self.exchanges.get(handle).map(|one| &**one)),
            handle,
            reuses: opened.reuses,
            again: opened.again,
            forgotten: opened.forgotten,
            is_member: part.is_member,
            scope: event.scope(),
            dir: event.dir,
            exchanges: &self.exchanges,
        });
        match (what, handle) {
            (Does::Cancels, Some(handle)) => self.end(handle, Outcome::Cancelled, event.at),
            (Does::Late, Some(handle)) => drop(self.exchanges.remove(handle)),
            (Does::Answers, Some(handle)) if !self.describes => {
                self.spare_exchange = self.exchanges.remove(handle);
            }
            _ => {}
        }
    }

    fn ask(
        &mut self,
        event: &Event,
        exchange: Exchange<T>,
        id: &RequestId<'_>,
        params: Option<&[u8]>,
    ) -> Opened {
        let key = self.exchanges.key(id);
        let exchange = match self.spare_exchange.take() {
            Some(mut room) => {
                *room = exchange;
                room
            }
            None => Box::new(exchange),
        };
        let asked = self.exchanges.ask(event.scope(), event.dir, key, exchange);
        if let Some(token) = params.and_then(progress_token) {
            self.exchanges
                .set_token(asked.handle, IdKey::exact_of(token));
        }
        let forgotten = asked.forgotten.as_ref().map(|(handle, _)| *handle);
        if let Some((handle, exchange)) = asked.forgotten {
            self.unschedule(handle, exchange.state);
            if exchange.state != State::GivenUp && self.describes {
                self.over.push_back(Over {
                    handle,
                    exchange: *exchange,
                    outcome: Outcome::Unknown,
                    at: event.at,
                });
            }
        }
        if event.dir == Direction::ToServer
            && let Some(carrier) = self.carriers.get_mut(&event.conduit)
        {
            carrier.asked.push(asked.handle);
        }
        self.freshen(event, asked.handle);
        Opened {
            handle: Some(asked.handle),
            reuses: asked.reuses,
            again: asked.again,
            forgotten,
        }
    }

    /// A message has requested or answered this.
    pub(super) fn freshen(&mut self, event: &Event, handle: Handle) {
        if !self.describes {
            return;
        }
        let stream = (event.conduit, event.dir);
        let fresh = self.fresh.entry(stream).or_default();
        if fresh.about.is_empty() {
            fresh.about = std::mem::take(&mut self.spare);
            fresh.at = event.at;
            fresh.message = message_number(event);
            self.fresh_ages.push_back((event.at, stream));
        }
        fresh.about.push(handle);
    }

    /// A stream continues, or has been silent: no fault will refer to its last message any more.
    pub(super) fn settle_stream(&mut self, stream: Stream) {
        if self.fresh.is_empty() {
            return;
        }
        let Some(Fresh { mut about, .. }) = self.fresh.remove(&stream) else {
            return;
        };
        for handle in about.drain(..) {
            let exchange = self.exchanges.get(handle);
            let exchange = exchange.filter(|exchange| exchange.state == State::Fresh);
            if let Some(answer) = exchange.and_then(|exchange| exchange.answer.as_ref()) {
                let at = answer.at;
                self.answered(handle, at);
            }
        }
        self.spare = about;
    }

    /// The answer of an exchange has reached its sender.
    pub(super) fn answered(&mut self, handle: Handle, at: Offset) {
        let exchange = self.exchanges.get(handle);
        let outcome = exchange.and_then(|exchange| {
            let answer = exchange.answer.as_ref()?;
            Some(exchange.outcome_of(answer))
        });
        self.end(handle, outcome.unwrap_or(Outcome::Answered), at);
    }

    /// An exchange is over.
    pub(super) fn end(&mut self, handle: Handle, outcome: Outcome, at: Offset) {
        let Some(exchange) = self.get(handle) else {
            return;
        };
        // An answer with its id may still come.
        let may_be_late = !outcome.is_answer() && exchange.answer.is_none();
        let exchange = if may_be_late {
            self.give_up(handle)
        } else {
            self.exchanges.remove(handle).map(|one| *one)
        };
        let Some(mut exchange) = exchange.filter(|_| self.describes) else {
            return;
        };
        if !outcome.is_answer() && exchange.fault.is_none() {
            exchange.fault = self.broken.get(&exchange.conduit).cloned();
        }
        self.unschedule(handle, exchange.state);
        let waits = matches!(outcome, Outcome::StillPending | Outcome::PeerGone);
        let outcome = match outcome {
            Outcome::StillPending if exchange.kept => Outcome::KeptByFault,
            _ if waits && exchange.gaps < self.gaps => Outcome::Unknown,
            _ => outcome,
        };
        self.over.push_back(Over {
            handle,
            exchange,
            outcome,
            at,
        });
    }

    /// An exchange enters a state. `until` has those whose answers are to be passed on at a time, and no others.
    pub(super) fn enter(&mut self, handle: Handle, state: State) {
        let Some(exchange) = self.exchanges.get_mut(handle) else {
            return;
        };
        let left = std::mem::replace(&mut exchange.state, state);
        self.unschedule(handle, left);
        if let State::Until(due, _) = state {
            self.until.insert((due, handle));
        }
    }

    /// An exchange leaves this state: if its answer was to be passed on at a time, it is not any more.
    fn unschedule(&mut self, handle: Handle, left: State) {
        if let State::Until(due, _) = left {
            self.until.remove(&(due, handle));
        }
    }

    /// Removes an exchange, and remembers that it existed.
    fn give_up(&mut self, handle: Handle) -> Option<Exchange<T>> {
        self.exchanges.give_up(handle);
        let exchange = self.exchanges.get_mut(handle)?;
        let rest = exchange.given_up();
        let exchange = std::mem::replace(&mut **exchange, rest);
        self.given_up.push_back(handle);
        if self.given_up.len() > GIVEN_UP
            && let Some(oldest) = self.given_up.pop_front()
        {
            // Unless it was answered late, or forgotten for another.
            self.exchanges.forget_one(oldest);
        }
        Some(exchange)
    }
}

impl Conversation<()> {
    /// Like [`observe`](Self::observe), for code that only needs how exchanges end. It is compiled
    /// with this package, optimized for speed, instead of with its user.
    pub fn hear(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.observe(event, message, |_| ());
    }
}

fn message_number(event: &Event) -> Option<MessageNumber> {
    match &event.body {
        EventBody::Message { origin, .. } => origin.number,
        _ => None,
    }
}
