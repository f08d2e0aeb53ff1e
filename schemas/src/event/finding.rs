//! The findings of a judge that watches a recording.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::tokens::tokens;
use super::{Direction, Event, Offset};
use crate::envelope::Envelope;
use crate::era::Era;

tokens! {
    /// The status of a judge's finding.
    pub enum FindingStatus {
        /// For a hang: it is over.
        Closed = "closed",
        /// A rule does not hold.
        Fail = "fail",
        /// A request hangs.
        Open = "open",
        /// A rule would be violated if the sender knew.
        Race = "race",
    }
}

tokens! {
    /// The side at fault.
    pub enum Side {
        /// The client.
        Client = "client",
        /// We are: a fault was injected that leads to it.
        Recorder = "recorder",
        /// The server.
        Server = "server",
    }
}

tokens! {
    /// How binding a rule is; later variants are more binding.
    pub enum Severity {
        /// It follows from a schema or from two rules together.
        Derived = "derived",
        /// SHOULD or SHOULD NOT.
        Should = "should",
        /// MUST or MUST NOT.
        Must = "must",
    }
}

impl Side {
    /// The sender of messages in this direction.
    #[must_use]
    pub fn sender(dir: Direction) -> Self {
        match dir {
            Direction::ToServer => Self::Client,
            Direction::ToClient => Self::Server,
        }
    }

    /// The direction of the messages that it receives.
    #[must_use]
    pub fn towards(self) -> Direction {
        match self {
            // Messages that the client receives have the direction to the client.
            Self::Client => Direction::ToClient,
            Self::Recorder | Self::Server => Direction::ToServer,
        }
    }
}

/// Something that a judge found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule: `INV-012`, or `HANG`.
    pub code: String,
    /// The status.
    pub status: FindingStatus,
    /// The side at fault.
    pub side: Side,
    /// How binding the rule is; `None` for a hang.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What is wrong, in words.
    pub detail: String,
    /// The events that prove it, the decisive one first.
    #[serde(default)]
    pub evidence: Vec<Place>,
    /// For a hang: the server's processes, if they can be inspected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
}

impl Finding {
    /// The code of a request that has been pending for too long.
    pub const HANG: &str = "HANG";

    /// Creates a finding described in words, without evidence yet.
    #[must_use]
    pub fn new(code: impl Into<String>, status: FindingStatus, side: Side, detail: String) -> Self {
        Self {
            code: code.into(),
            status,
            side,
            severity: None,
            detail,
            evidence: Vec::new(),
            processes: Vec::new(),
        }
    }
}

/// The state of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its process id.
    pub pid: u32,
    /// Its name, truncated by the system.
    pub name: String,
    /// `running`, `sleeping`, `waiting for a device`, `stopped` or `ended`.
    pub state: String,
    /// Its CPU time since it started, in milliseconds.
    pub cpu_ms: u64,
    /// The targets of its first open descriptors, by number: `0 pipe:[4711]`.
    #[serde(default)]
    pub files: Vec<String>,
    /// The number of further open descriptors.
    #[serde(default)]
    pub more_files: u64,
}

/// A place on the tape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The event.
    pub seq: u64,
    /// JSON pointer within its message; empty for the whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pointer: String,
}

/// A message that is being written, before its event has a number.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The event, without its number and its era.
    pub event: &'a Event,
    /// Its number on the tape.
    pub seq: u64,
    /// The era of the message.
    pub era: Option<Era>,
    /// The message, taken apart.
    pub message: &'a Envelope<'a>,
}

impl Seen<'_> {
    /// The event as recorded on the tape.
    #[must_use]
    pub fn to_event(&self) -> Event {
        Event {
            seq: self.seq,
            era: self.era,
            ..self.event.clone()
        }
    }
}

/// Judges a recording while it is written.
///
/// It sees every event as recorded on the tape: numbered, with its era, and without secrets.
pub trait Judge: fmt::Debug + Send {
    /// Whether it wants to see an event, given here as it arrived. If no judge does, it is not read
    /// back from the tape.
    fn wants(&self, _event: &Event) -> bool {
        true
    }

    /// Handles the next event; `message` is its parsed message, if known.
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>);

    /// Handles a message that is recorded unchanged on the tape. Equivalent to
    /// [`observe`](Self::observe), but may avoid a copy of the event.
    fn message(&mut self, seen: &Seen<'_>) {
        self.observe(&seen.to_event(), Some(seen.message));
    }

    /// It is `now`, and perhaps nothing has come for a while.
    fn tick(&mut self, now: Offset);

    /// The recording ends.
    fn end(&mut self, now: Offset);

    /// The next event that it wants to add to the tape.
    fn poll(&mut self) -> Option<Event>;
}
