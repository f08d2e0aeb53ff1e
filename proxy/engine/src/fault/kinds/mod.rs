//! The table of kinds: everything that can be done on purpose.

mod alter;
mod hang;
mod order;
mod pace;
mod process;

use super::act::{Act, Call};

/// One thing that can be done.
pub struct Kind {
    /// How it is called.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub does: &'static str,
    /// Whether a peer that keeps to the protocol can meet it, and why.
    pub legal: Legality,
    /// A fault of this kind, as one writes it.
    pub example: &'static str,
    /// What can be said about it.
    pub parameters: &'static [Parameter],
    /// Which message it acts on by default.
    pub on: FaultTarget,
    /// To what it can be done.
    pub acts_on: ActsOn,
    /// Where it can be done.
    pub reach: TransportSupport,
    /// The parameter that says how many messages it acts on at most.
    pub limit: Option<&'static str>,
    /// What it does to the message at hand.
    pub act: fn(&Call<'_>) -> Act,
}

/// To which messages a kind can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActsOn {
    /// To answers, of servers and of clients.
    Answers,
    /// To any message.
    Messages,
    /// To answers of servers, and over HTTP to the response to whatever a client sends.
    Responses,
}

/// Whether a peer must cope with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legality {
    /// The protocol forbids it: it tests what a peer does with broken ones.
    Forbidden(&'static str),
    /// The protocol allows it, for this reason: a peer has to cope.
    Yes(&'static str),
}

/// Which message of a matched request a fault acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// The answer.
    Answer,
    /// The request, on its way to the receiver.
    Request,
}

/// Over which transports it can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportSupport {
    /// All.
    Any,
    /// HTTP.
    Http,
    /// Standard streams.
    Stdio,
}

/// Something that can be said about a fault.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub unit: Unit,
    /// What holds when nothing is said; `None` when something has to be.
    pub default: Option<&'static str>,
    /// What it says.
    pub does: &'static str,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// A whole number.
    Count {
        /// What it counts.
        of: &'static str,
        /// The least.
        least: u64,
        /// The most.
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

/// A day: no fault waits longer.
const DAY_MS: u64 = 86_400_000;
/// Milliseconds.
const MS: Unit = Unit::Count {
    of: "milliseconds",
    least: 0,
    most: DAY_MS,
};

/// All kinds, the documented four first.
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

/// The kind of a name; the words of the suite format and of the command line are the same
/// but for dashes.
#[must_use]
pub fn find(name: &str) -> Option<&'static Kind> {
    let plain = name.replace('_', "-");
    let same = |kind: &&&Kind| kind.name.replace('_', "-") == plain;
    ALL.iter().find(same).copied()
}

impl Kind {
    /// Whether it can be done where this is spoken.
    pub(super) fn is_for(&self, reach: TransportSupport) -> bool {
        self.reach == TransportSupport::Any || reach == TransportSupport::Any || self.reach == reach
    }

    /// The parameter of a name.
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
