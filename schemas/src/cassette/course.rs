//! The order of a cassette that has no times.
//!
//! Clocks differ between recordings; what the client had sent by some point does not. So a cassette
//! without times records for each message of the server how many messages of the client preceded
//! it, as `seen`: in a stream and for a response, since the request of its exchange; outside the
//! exchanges, since the last message of the client that is not an entry of a stream. It is omitted
//! where the order of the file implies it: in an exchange, if it equals the value before it, and
//! elsewhere if it is 0.
//!
//! The order of the server's messages between two messages of the client is not recorded: two
//! concurrent calls may be answered in any order, and in another order the next time. The server is
//! assumed to have answered the latest request first. That is one of the possible orders: a message
//! that names no request is in the stream of the latest request that was pending, so all later ones
//! had been answered when it came. Messages outside the exchanges are assumed to have come last,
//! except for an answer with an id of another type, which came before the right one. If a client
//! has used one id for two concurrent requests, the code that pairs the events again may swap their
//! answers; the file itself has them right.

use std::collections::BTreeSet;

use crate::event::Direction;

/// Numbers the messages of a client while a cassette is read in the order of its file.
///
/// Only the order of its positions is meaningful: it is the order in which things happened.
#[derive(Debug, Default)]
pub struct Course {
    // The number of the last request, or message outside the exchanges; the first one is 1.
    last: u64,
    // Later numbers that belong to entries of streams.
    taken: BTreeSet<u64>,
}

/// How much of an exchange in such a cassette has been read.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    // The number of its request.
    first: u64,
    // The number of messages of the client since.
    seen: u64,
}

/// A limit that no cassette exceeds.
const MOST: u64 = 1 << 30;

/// The position of a message of the client; there is room before it.
fn said(number: u64) -> u64 {
    number.min(MOST) << 32 | 1
}

/// The position of a message that the server sent after a message of the client, in the exchange of
/// this request.
fn heard(number: u64, request: u64) -> u64 {
    number.min(MOST) << 32 | (2 + MOST - request.min(MOST))
}

impl Course {
    /// Returns the position of a request of the client, and the state of its exchange.
    pub fn ask(&mut self) -> (u64, Step) {
        self.last = self.last.saturating_add(1);
        while self.taken.remove(&self.last) {
            self.last = self.last.saturating_add(1);
        }
        let step = Step {
            first: self.last,
            seen: 0,
        };
        (said(self.last), step)
    }

    /// An answer of the server outside the exchanges that came before the answers inside them.
    pub(super) fn early(&self, seen: Option<u64>) -> u64 {
        let number = self.last.saturating_add(seen.unwrap_or_default());
        heard(number, MOST)
    }

    /// Returns the position of an entry outside the exchanges.
    pub fn beside(&mut self, from: Direction, seen: Option<u64>) -> u64 {
        match from {
            Direction::ToServer => self.ask().0,
            Direction::ToClient => heard(self.last.saturating_add(seen.unwrap_or_default()), 0),
        }
    }

    /// Returns the position of an entry of a stream.
    pub fn entry(&mut self, step: &mut Step, from: Direction, seen: Option<u64>) -> u64 {
        match from {
            Direction::ToClient => step.heard(seen),
            Direction::ToServer => {
                step.seen = seen.unwrap_or(step.seen).saturating_add(1);
                let number = step.first.saturating_add(step.seen);
                self.taken.insert(number);
                said(number)
            }
        }
    }
}

impl Step {
    /// Returns the position of the response, or of another message of the server.
    pub fn heard(&mut self, seen: Option<u64>) -> u64 {
        self.seen = seen.unwrap_or(self.seen);
        heard(self.first.saturating_add(self.seen), self.first)
    }
}

/// Counts the messages of a client while a cassette without times is written.
#[derive(Debug, Default)]
pub(super) struct Counted {
    // The number of messages, and the number up to the last one that is not an entry of a stream.
    all: u64,
    last: u64,
}

/// Like [`Step`], while the cassette is being written.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepDraft {
    // The number of messages of the client up to and including its request.
    first: u64,
    // The number of messages since then, as a reader would assume it.
    expected: u64,
}

impl Counted {
    /// Counts a request of the client.
    pub(super) fn ask(&mut self) -> StepDraft {
        self.all += 1;
        self.last = self.all;
        StepDraft {
            first: self.all,
            expected: 0,
        }
    }

    /// Counts an entry outside the exchanges; returns its value of `seen`.
    pub(super) fn beside(&mut self, from: Direction) -> Option<u64> {
        if from == Direction::ToServer {
            self.ask();
            return None;
        }
        Some(self.all - self.last).filter(|seen| *seen > 0)
    }

    /// Counts an event of an exchange; returns its value of `seen`.
    pub(super) fn of(&mut self, asked: &mut StepDraft, from: Direction) -> Option<u64> {
        let seen = self.all - asked.first;
        let known = seen == asked.expected;
        let own = u64::from(from == Direction::ToServer);
        self.all += own;
        asked.expected = seen + own;
        (!known).then_some(seen)
    }
}
