//! What a kind of fault does to a message, independent of the transport.

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
    /// The source of randomness.
    pub random: Random,
    /// The message, without the end of its line.
    pub text: &'a [u8],
    /// The line ending here; empty if the carrier of the message provides it.
    pub end: &'a [u8],
    /// Source text of the message's id.
    pub id: Option<&'a [u8]>,
}

/// What is done to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It is forwarded after this time.
    Delay {
        /// The delay since its arrival.
        time: Duration,
        /// It does not overtake messages that the same fault delayed before.
        in_order: bool,
    },
    /// The connection to the client is cut at this point.
    Cut(CutAt),
    /// It is not forwarded.
    Drop,
    /// It is forwarded later, and later messages may overtake it.
    Hold(Until),
    /// Nothing more is forwarded in this direction, including this message.
    HoldAll {
        /// The connection is cut after this time; never if `None`.
        cut_after: Option<Duration>,
    },
    /// These moves take its place.
    Play {
        /// The moves.
        moves: Vec<Move>,
        /// The effect that is recorded for them.
        what: What,
    },
    /// A line made by tapewright, here without its end, is sent before it.
    Precede(Bytes),
    /// It is repeated this many times.
    Repeat(u8),
    /// Nothing is read from the sender for this time; until the fault is removed if `None`.
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
    /// Replaces the message.
    #[must_use]
    pub fn replace(by: Replacement, line: impl Into<Bytes>) -> Self {
        Self::Play {
            moves: vec![Move::send(line)],
            what: What::Replaced { by, code: None },
        }
    }

    /// Replaces the message with an error of this code.
    #[must_use]
    pub fn fail(code: i64, line: impl Into<Bytes>) -> Self {
        Self::Play {
            moves: vec![Move::send(line)],
            what: What::Replaced {
                by: Replacement::Error,
                code: Some(code),
            },
        }
    }
}

/// Where a connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutAt {
    /// After the message.
    After,
    /// Before the message.
    Before,
    /// After the head of the response that carries it; before it if there is none.
    Head,
    /// In the middle of the message.
    Mid,
}

/// One step of what replaces a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Nothing more is forwarded until the fault is removed.
    Hold,
    /// A step of the lane.
    Step(Step),
}

impl Move {
    /// Sends bytes.
    #[must_use]
    pub fn send(bytes: impl Into<Bytes>) -> Self {
        Self::Step(Step::Send(bytes.into()))
    }
}

/// How long a message is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Until the client has cancelled the request, and then for this time.
    Cancelled(Duration),
    /// Until the next message of this direction has passed, but at most for this time.
    Next(Duration),
    /// Until the fault is removed.
    Removed,
}

impl Call<'_> {
    /// The value of a numeric parameter.
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

    /// The message verbatim, with the end of its line.
    #[must_use]
    pub fn whole(&self) -> Bytes {
        self.line(self.text)
    }

    /// A line made by tapewright.
    #[must_use]
    pub fn line(&self, text: &[u8]) -> Bytes {
        let mut line = Vec::with_capacity(text.len() + self.end.len());
        line.extend_from_slice(text);
        line.extend_from_slice(self.end);
        line.into()
    }
}
