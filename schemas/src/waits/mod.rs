//! Requests that wait: since when, what a fault has to do with it, and how it ended.
//!
//! A [`Waits`] follows the requests of both sides. On the tape the true answer stands
//! where it came, also when a fault kept it from the client: here such a request goes on
//! waiting, because its sender does.
//!
//! What was waited for too long is a *hang*: longer than a given time, or because a fault
//! keeps the answer back, or until nobody could answer any more. [`Waits::poll`] tells when
//! one begins and how it ends: `answered`, `cancelled`, `peer gone`, `still pending`, or over
//! HTTP in the words of a cassette's `unanswered`.
//!
//! # Bounded memory
//!
//! At most 65,536 requests are followed at once; how many more there were is counted.

mod settle;
mod wait;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use self::wait::{State, key};
use crate::cassette::ends::Ends;
use crate::envelope::{Envelope, Kind, RequestId, for_each_message};
use crate::event::{
    ConduitId, Direction, Event, EventBody, Head, MessageNumber, Offset, Payload, Peer,
};
use crate::json;

pub use self::wait::{Wait, name_of, shown};

/// Follows requests until they are answered, given up, or cannot be answered any more.
#[derive(Debug, Default)]
pub struct Waits {
    long: Offset,
    // By number, in the order in which they were asked.
    known: BTreeMap<u64, Wait>,
    // The numbers that wait under a key: the first answer is for the first request.
    by_key: HashMap<Vec<u8>, VecDeque<u64>>,
    // What the last message of a stream asked or answered: a fault behind it is about it.
    fresh: HashMap<(ConduitId, Direction), Fresh>,
    // Those that are passed on at a time.
    until: BTreeSet<(Offset, u64)>,
    exchanges: HashMap<ConduitId, Exchange>,
    ends: Ends,
    told: VecDeque<Change>,
    asked: u64,
    // Up to which request it was told what has waited for long.
    looked: u64,
    now: Offset,
    // The number of the message at hand.
    number: Option<MessageNumber>,
    beyond: u64,
}

/// The last message of a stream.
#[derive(Debug, Default)]
struct Fresh {
    message: Option<MessageNumber>,
    // What it asked or answered.
    waits: Vec<u64>,
}

/// An HTTP exchange under way.
#[derive(Debug, Default)]
struct Exchange {
    status: u16,
    asked: Vec<u64>,
}

/// What became of a request that hangs.
#[derive(Clone, Debug)]
pub enum Change {
    /// It hangs.
    Opened(Wait),
    /// It does no longer.
    Closed {
        /// The request.
        wait: Wait,
        /// How that ended: `answered`, `cancelled`, `peer gone`, …
        how: &'static str,
        /// When.
        at: Offset,
    },
}

/// One message, and the request that it answers.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What it is.
    pub envelope: &'a Envelope<'a>,
    /// Its text.
    pub text: &'a [u8],
    /// The request that it answers, if it is known.
    pub answers: Option<&'a Wait>,
}

/// How many requests, HTTP exchanges and streams are followed at once.
const LIMIT: usize = 65_536;
/// How many streams may have a last message of which a fault may still tell.
const FRESH: usize = 4_096;
/// Requests that last by their nature (2026-07-28, server/subscriptions).
const LASTING: &str = "subscriptions/listen";
/// How a request ends that got its answer.
pub const ANSWERED: &str = "answered";

impl Waits {
    /// Follows requests from here on; what waits `long` is a hang.
    #[must_use]
    pub fn new(long: Offset) -> Self {
        Self {
            long,
            ..Self::default()
        }
    }

    /// Takes the next event; `message` is its message taken apart, where that is known.
    /// `each` is shown every single message.
    pub fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        mut each: impl FnMut(Seen<'_>),
    ) {
        self.tick(event.at);
        self.ends.observe(event);
        match &event.body {
            EventBody::Message {
                payload, origin, ..
            } => {
                self.refresh((event.conduit, event.dir));
                self.number = origin.number;
                if let Payload::Whole(bytes) = payload {
                    self.payload(event, bytes, message, &mut each);
                }
            }
            EventBody::Faulted(faulted) => self.faulted(event, faulted),
            EventBody::Opened(Peer::Client { .. }) if self.exchanges.len() < LIMIT => {
                self.exchanges.entry(event.conduit).or_default();
            }
            EventBody::Head(head) => {
                if let (Head::Response(head), Some(exchange)) =
                    (head.as_ref(), self.exchanges.get_mut(&event.conduit))
                {
                    exchange.status = head.status;
                }
            }
            EventBody::Closed(reason) if event.dir == Direction::ToClient => {
                self.closed(event.conduit, *reason);
            }
            EventBody::Exited(_) => self.ended(event.session, None),
            EventBody::Session(mark) => self.marked(event.session, mark),
            _ => {}
        }
    }

    /// It is `now`: what has waited for long is told.
    pub fn tick(&mut self, now: Offset) {
        self.now = self.now.max(now);
        while let Some((due, number)) = self.until.first().copied()
            && due <= self.now
        {
            self.settle(number, ANSWERED, due);
        }
        while let Some((number, wait)) = self.known.range_mut(self.looked..).next() {
            if self.now.since(wait.at) < self.long {
                return;
            }
            self.looked = number + 1;
            if wait.is_pending() && !wait.told {
                wait.told = true;
                self.told.push_back(Change::Opened(wait.clone()));
            }
        }
    }

    /// Nothing more will come.
    pub fn finish(&mut self) {
        for stream in self.fresh.keys().copied().collect::<Vec<_>>() {
            self.refresh(stream);
        }
        let numbers: Vec<u64> = self.known.keys().copied().collect();
        for number in numbers {
            let conduit = self.known.get(&number).map(|wait| wait.conduit);
            let how = self.ends.of(conduit.unwrap_or_default());
            self.settle(number, how, self.now);
        }
    }

    /// The next hang that began or ended.
    pub fn poll(&mut self) -> Option<Change> {
        self.told.pop_front()
    }

    /// The requests whose senders wait, the oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Wait> {
        self.known.values().filter(|wait| wait.is_pending())
    }

    /// How many requests were not followed, because too many were.
    #[must_use]
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// After what time a request hangs.
    #[must_use]
    pub fn long(&self) -> Offset {
        self.long
    }

    fn payload(
        &mut self,
        event: &Event,
        bytes: &[u8],
        message: Option<&Envelope<'_>>,
        each: &mut impl FnMut(Seen<'_>),
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
        each: &mut impl FnMut(Seen<'_>),
    ) {
        let mut answers = None;
        match &envelope.kind {
            Kind::Request { id, method, .. } if id.pairs() && method != LASTING => {
                self.ask(event, Wait::new(event, text, id, envelope));
            }
            Kind::Response { id, .. } if id.pairs() => answers = self.answer(event, id),
            Kind::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                if let Some(id) = id {
                    self.cancel(event, &RequestId::of_source(id));
                }
            }
            _ => {}
        }
        each(Seen {
            envelope,
            text,
            answers: answers.and_then(|number| self.known.get(&number)),
        });
    }

    fn ask(&mut self, event: &Event, wait: Wait) {
        if self.known.len() >= LIMIT {
            self.beyond += 1;
            return;
        }
        self.asked += 1;
        let number = self.asked;
        self.by_key
            .entry(wait.key.clone())
            .or_default()
            .push_back(number);
        if wait.dir == Direction::ToServer
            && let Some(exchange) = self.exchanges.get_mut(&event.conduit)
        {
            exchange.asked.push(number);
        }
        self.known.insert(number, wait);
        self.freshen(event, number);
    }

    fn answer(&mut self, event: &Event, id: &RequestId<'_>) -> Option<u64> {
        let key = key(event.scope(), event.dir.opposite(), id);
        let number = *self.by_key.get(&key)?.front()?;
        self.unlist(&key, number);
        let wait = self.known.get_mut(&number)?;
        wait.state = State::Fresh;
        wait.answered = Some(event.at);
        self.freshen(event, number);
        Some(number)
    }

    fn cancel(&mut self, event: &Event, id: &RequestId<'_>) {
        let key = key(event.scope(), event.dir, id);
        if let Some(number) = self.by_key.get(&key).and_then(|numbers| numbers.front()) {
            self.settle(*number, crate::cassette::ends::CANCELLED, event.at);
        }
    }

    /// A message has asked or answered this.
    fn freshen(&mut self, event: &Event, number: u64) {
        let stream = (event.conduit, event.dir);
        if self.fresh.len() >= FRESH && !self.fresh.contains_key(&stream) {
            for stream in self.fresh.keys().copied().collect::<Vec<_>>() {
                self.refresh(stream);
            }
        }
        let fresh = self.fresh.entry(stream).or_default();
        fresh.message = self.number;
        fresh.waits.push(number);
    }

    /// A stream goes on: no fault will tell of its last message any more.
    fn refresh(&mut self, stream: (ConduitId, Direction)) {
        for number in self.fresh.remove(&stream).unwrap_or_default().waits {
            let wait = self.known.get(&number);
            if let Some(wait) = wait.filter(|wait| wait.state == State::Fresh) {
                let at = wait.answered.unwrap_or(self.now);
                self.settle(number, ANSWERED, at);
            }
        }
    }
}
