//! The findings of a judge.

use std::fmt;

use tapewright_schemas::event::{Offset, SessionKey};
pub use tapewright_schemas::event::{Place, Severity, Side};

use crate::code::Code;

/// The verdict on one invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did not hold.
    Fail,
    /// It cannot be decided.
    Inconclusive,
    /// It held whenever it was exercised.
    Pass,
    /// It would be violated if its sender knew; two pipes have no common clock.
    Race,
    /// It was never exercised.
    Vacuous,
}

/// Why something cannot be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Doubt {
    /// The recording ends before its end.
    CutShort = 1,
    /// More was in flight than is remembered.
    Evicted = 2,
    /// A fault may have led to it.
    Faulted = 4,
    /// Messages are missing.
    Gap = 8,
    /// The exchange belongs to no session.
    NoSession = 16,
    /// This kind of file does not contain it.
    NotKept = 32,
    /// The recording begins after the beginning of the session.
    StartUnknown = 64,
    /// A message was too long or nested too deeply to be parsed.
    Unread = 128,
    /// It needs something that was not seen: a handshake, a list, a schema.
    Unseen = 256,
    /// It would take too long to find out.
    TooCostly = 512,
}

/// One violation, with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The invariant.
    pub code: Code,
    /// [`Status::Fail`] or [`Status::Race`].
    pub status: Status,
    /// The responsible side.
    pub side: Side,
    /// How binding the rule is in the revision of the message.
    pub severity: Severity,
    /// Its session.
    pub session: SessionKey,
    /// When it was seen.
    pub at: Offset,
    /// What is wrong, in words.
    pub detail: String,
    /// The messages that prove it, the decisive one first.
    pub evidence: Vec<Place>,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::Pass => "pass",
            Self::Race => "race",
            Self::Vacuous => "vacuous",
        }
    }
}

impl Doubt {
    const ALL: [Self; 10] = [
        Self::CutShort,
        Self::Gap,
        Self::Unread,
        Self::StartUnknown,
        Self::Evicted,
        Self::NoSession,
        Self::NotKept,
        Self::Unseen,
        Self::Faulted,
        Self::TooCostly,
    ];

    /// Whether the recording lacks something that it should contain.
    #[must_use]
    pub fn is_gap(self) -> bool {
        matches!(self, Self::CutShort | Self::Gap | Self::Unread)
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::CutShort => "the recording ends before the session does",
            Self::Evicted => "more was in flight than the checker remembers",
            Self::Faulted => "a fault that was injected may have led to it",
            Self::Gap => "messages are missing in the recording",
            Self::NoSession => "the exchanges belong to no session",
            Self::NotKept => "this kind of file does not contain the necessary events",
            Self::StartUnknown => "the recording begins in the middle of the session",
            Self::TooCostly => "it would take too long to find out",
            Self::Unread => "a message could not be looked into",
            Self::Unseen => "its precondition was not recorded",
        }
    }
}

/// A set of doubts.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Doubts(u16);

impl Doubts {
    /// Adds one.
    pub fn add(&mut self, doubt: Doubt) {
        self.0 |= doubt as u16;
    }

    /// Adds all of another set.
    pub fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Whether there are no doubts.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Each of them.
    pub fn each(self) -> impl Iterator<Item = Doubt> {
        let has = move |doubt: &Doubt| self.0 & *doubt as u16 != 0;
        Doubt::ALL.into_iter().filter(has)
    }
}

impl fmt::Debug for Doubts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.each()).finish()
    }
}
