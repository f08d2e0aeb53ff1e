//! The order of a cassette that has no times.
//!
//! Clocks differ from one recording to the next, and what the client had said by then does not.
//! So a cassette without times tells of what the server said how many messages of the client came
//! before it, as `seen`: in a stream and of a response since the request of its exchange, and beside
//! the exchanges since the last message of the client that is no entry of a stream. It is left out
//! where the order of the file says the same: in an exchange where it goes on from what stands
//! before, and elsewhere where it is 0.
//!
//! In which order the server said what it said between two messages of the client is not told: two
//! calls that are under way together may be answered in any order, and the next time in another. It
//! is taken to have spoken of the latest request first. That is one of the orders in which it can
//! have been: a message that names no request is in the stream of the latest one that was under way,
//! so that all later ones had their answers when it came. What stands beside the exchanges is taken
//! to have come last, but for an answer with an id of another type, which came before the right one.
//! Where a client has used one id for two requests that are under way together, the code that pairs the
//! events again may give each the answer of the other; the file itself has them right.

use std::collections::BTreeSet;

use crate::event::Direction;

/// Numbers the messages of a client while a cassette is read in the order of its file.
///
/// Its positions are in the order in which things happened, and mean nothing else.
#[derive(Debug, Default)]
pub struct Course {
    // The number of the last request, or message beside the exchanges; the first one is 1.
    last: u64,
    // Numbers behind it that belong to entries of streams.
    taken: BTreeSet<u64>,
}

/// How far an exchange of such a cassette has been read.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    // The number of its request.
    first: u64,
    // How many messages of the client have come since.
    seen: u64,
}

/// No cassette has more messages of a client.
const MOST: u64 = 1 << 30;

/// Where a message of the client stands; before it is room.
fn said(number: u64) -> u64 {
    number.min(MOST) << 32 | 1
}

/// Where something stands that the server said behind a message of the client, of the exchange
/// with this request.
fn heard(number: u64, request: u64) -> u64 {
    number.min(MOST) << 32 | (2 + MOST - request.min(MOST))
}

impl Course {
    /// A request of the client: its position, and its exchange from there on.
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

    /// An answer of the server beside the exchanges that came before those in them.
    pub(super) fn early(&self, seen: Option<u64>) -> u64 {
        let number = self.last.saturating_add(seen.unwrap_or_default());
        heard(number, MOST)
    }

    /// An entry beside the exchanges.
    pub fn beside(&mut self, from: Direction, seen: Option<u64>) -> u64 {
        match from {
            Direction::ToServer => self.ask().0,
            Direction::ToClient => heard(self.last.saturating_add(seen.unwrap_or_default()), 0),
        }
    }

    /// An entry of a stream.
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
    /// The response, or what else the server said.
    pub fn heard(&mut self, seen: Option<u64>) -> u64 {
        self.seen = seen.unwrap_or(self.seen);
        heard(self.first.saturating_add(self.seen), self.first)
    }
}

/// Counts the messages of a client while a cassette without times is written.
#[derive(Debug, Default)]
pub(super) struct Counted {
    // How many there were, and how many up to the last one that is no entry of a stream.
    all: u64,
    last: u64,
}

/// As [`Step`], while it is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepDraft {
    // How many messages of the client there were with its request.
    first: u64,
    // What a reader takes for the number of those that came since.
    expected: u64,
}

impl Counted {
    /// A request of the client.
    pub(super) fn ask(&mut self) -> StepDraft {
        self.all += 1;
        self.last = self.all;
        StepDraft {
            first: self.all,
            expected: 0,
        }
    }

    /// An entry beside the exchanges; what it says as `seen`.
    pub(super) fn beside(&mut self, from: Direction) -> Option<u64> {
        if from == Direction::ToServer {
            self.ask();
            return None;
        }
        Some(self.all - self.last).filter(|seen| *seen > 0)
    }

    /// Something of an exchange; what it says as `seen`.
    pub(super) fn of(&mut self, asked: &mut StepDraft, from: Direction) -> Option<u64> {
        let seen = self.all - asked.first;
        let known = seen == asked.expected;
        let own = u64::from(from == Direction::ToServer);
        self.all += own;
        asked.expected = seen + own;
        (!known).then_some(seen)
    }
}
