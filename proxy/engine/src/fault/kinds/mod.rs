//! The table of all kinds of faults.

mod alter;
mod hang;
mod order;
mod pace;
mod process;

use super::act::{Act, Call};

/// One kind of fault.
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub does: &'static str,
    /// Whether the protocol allows it, and why.
    pub legal: Legality,
    /// A fault of this kind, as a user writes it.
    pub example: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Which message it acts on by default.
    pub on: FaultTarget,
    /// The messages that it can act on.
    pub acts_on: ActsOn,
    /// The transports on which it is possible.
    pub reach: TransportSupport,
    /// The parameter with the maximum number of messages that it acts on.
    pub limit: Option<&'static str>,
    /// What it does to a message.
    pub act: fn(&Call<'_>) -> Act,
}

/// The messages that a kind can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActsOn {
    /// Answers of servers and of clients.
    Answers,
    /// Any message.
    Messages,
    /// Answers of servers, and over HTTP the response to anything that a client sends.
    Responses,
}

/// Whether a peer must cope with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legality {
    /// The protocol forbids it: it tests how a peer handles a broken one.
    Forbidden(&'static str),
    /// The protocol allows it, for this reason: a peer must cope.
    Yes(&'static str),
}

/// The message of a matched request that a fault acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// The answer.
    Answer,
    /// The request, on its way to the receiver.
    Request,
}

/// The transports on which a kind is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportSupport {
    /// All.
    Any,
    /// HTTP.
    Http,
    /// Standard streams.
    Stdio,
}

/// A parameter of a kind of fault.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The type of its value.
    pub unit: Unit,
    /// Its default; `None` for a required parameter.
    pub default: Option<&'static str>,
    /// A description.
    pub does: &'static str,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// A whole number.
    Count {
        /// The unit.
        of: &'static str,
        /// The minimum.
        least: u64,
        /// The maximum.
        most: u64,
    },
    /// A whole number, of either sign.
    Integer,
    /// A JSON value.
    Json,
    /// Any text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// A day, the maximum delay of a fault.
const DAY_MS: u64 = 86_400_000;
/// Milliseconds.
const MS: Unit = Unit::Count {
    of: "milliseconds",
    least: 0,
    most: DAY_MS,
};

/// All kinds, the four documented ones first.
pub static ALL: [&Kind; 23] = [
    &hang::HANG,
    &hang::WEDGED,
    &pace::SLOW,
    &hang::RECOVER_AFTER,
    &pace::LATENCY,
    &hang::TIMEOUT,
    &alter::ERROR,
    &alter::HTTP_STATUS,
    &process::RESET,
    &pace::SLOW_TRICKLE,
    &pace::SLICER,
    &alter::TRUNCATE,
    &alter::GARBAGE,
    &order::DUPLICATE,
    &order::REORDER,
    &order::DROP,
    &alter::WRONG_ID,
    &order::LATE_AFTER_CANCEL,
    &alter::OVERSIZE,
    &process::STDERR_FLOOD,
    &process::STDIN_STALL,
    &process::EXIT,
    &order::LIST_CHANGE,
];

/// Looks up a kind by name; the names in suites and on the command line only differ in dashes.
#[must_use]
pub fn find(name: &str) -> Option<&'static Kind> {
    let plain = name.replace('_', "-");
    let same = |kind: &&&Kind| kind.name.replace('_', "-") == plain;
    ALL.iter().find(same).copied()
}

impl Kind {
    /// Whether it is possible on a transport.
    pub(super) fn is_for(&self, reach: TransportSupport) -> bool {
        self.reach == TransportSupport::Any || reach == TransportSupport::Any || self.reach == reach
    }

    /// Looks up a parameter by name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|one| one.name == name)
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name)
    }
}
