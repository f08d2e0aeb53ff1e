//! What a kind does to the message at hand, before a transport carries it out.

use std::time::Duration;

use bytes::Bytes;
use tapewright_schemas::event::{Replacement, What};

use super::kinds::Kind;
use super::random::Random;
use super::values::Values;
use crate::policy::Step;

/// The message that a fault acts on, and the fault.
#[derive(Debug)]
pub struct Call<'a> {
    /// The kind of the fault.
    pub kind: &'static Kind,
    /// Its parameters.
    pub values: &'a Values,
    /// Chance.
    pub random: Random,
    /// The message, without the end of its line.
    pub text: &'a [u8],
    /// How lines end here; empty where what carries the message ends it.
    pub end: &'a [u8],
    /// Source text of the message's id.
    pub id: Option<&'a [u8]>,
}

/// What is done to the message at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is passed on after this time.
    Delay {
        /// How long after it came.
        time: Duration,
        /// It does not overtake what the same fault delayed before.
        in_order: bool,
    },
    /// The connection to the client is cut, there.
    Cut(CutAt),
    /// It goes no further.
    Drop,
    /// It is passed on later, and later messages may overtake it.
    Hold(Until),
    /// Nothing is passed on any more in this direction, this message first of all.
    HoldAll {
        /// The connection is cut after this time; `None` for never.
        cut_after: Option<Duration>,
    },
    /// These moves take its place.
    Play {
        /// The moves.
        moves: Vec<Move>,
        /// What they amount to.
        what: What,
    },
    /// A line of ours, here without its end, is passed on before it.
    Precede(Bytes),
    /// It is passed on this many times more than once.
    Repeat(u8),
    /// Nothing is read from the sender for this time; `None` until the fault is taken away.
    Stall(Option<Duration>),
    /// The client gets this HTTP status in its place.
    Status {
        /// The status.
        status: u16,
        /// `Retry-After`, in seconds.
        retry_after: Option<u64>,
    },
}

impl Act {
    /// Something else takes the place of the message.
    #[must_use]
    pub fn replace(by: Replacement, line: impl Into<Bytes>) -> Self {
        Self::Play {
            moves: vec![Move::send(line)],
            what: What::Replaced { by },
        }
    }
}

/// Where a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// Behind the message.
    After,
    /// Before anything of it.
    Before,
    /// Behind the head of the response that carries it; before it, where there is none.
    Head,
    /// In the middle of it.
    Mid,
}

/// One step of what takes the place of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Nothing more is passed on until the fault is taken away.
    Hold,
    /// A step as a lane knows it.
    Step(Step),
}

impl Move {
    /// Bytes are passed on.
    #[must_use]
    pub fn send(bytes: impl Into<Bytes>) -> Self {
        Self::Step(Step::Send(bytes.into()))
    }
}

/// How long something is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the client has cancelled the request, and this much longer.
    Cancelled(Duration),
    /// Until the next message of this direction has passed, but no longer than this.
    Next(Duration),
    /// Until the fault is taken away.
    Removed,
}

impl Call<'_> {
    /// The number of a parameter.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        self.values.number(self.kind, name)
    }

    /// The text of a parameter.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.values.text(self.kind, name)
    }

    /// A parameter in milliseconds.
    #[must_use]
    pub fn millis(&self, name: &str) -> Duration {
        Duration::from_millis(self.number(name))
    }

    /// A parameter as a size in bytes.
    #[must_use]
    pub fn size(&self, name: &str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(usize::MAX)
    }

    /// The message as it came, with the end of its line.
    #[must_use]
    pub fn whole(&self) -> Bytes {
        self.line(self.text)
    }

    /// A line of ours.
    #[must_use]
    pub fn line(&self, text: &[u8]) -> Bytes {
        let mut line = Vec::with_capacity(text.len() + self.end.len());
        line.extend_from_slice(text);
        line.extend_from_slice(self.end);
        line.into()
    }
}
