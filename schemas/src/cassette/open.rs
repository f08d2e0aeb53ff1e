//! A request that awaits its response, with the data that files need.

use super::course::StepDraft;
use crate::era::Era;
use crate::event::{CloseReason, ConduitId, Event, Offset, Scope};

/// A request that awaits its response.
#[derive(Debug)]
pub(crate) struct Open {
    /// Its position among the requests of the file.
    pub(crate) ordinal: u64,
    pub(crate) at: Offset,
    pub(crate) scope: Scope,
    pub(crate) conduit: ConduitId,
    /// How the HTTP exchange that carried it ended, and with what status.
    pub(crate) over: Option<(CloseReason, u16)>,
    pub(crate) era: Option<Era>,
    pub(crate) marks: Marks,
    /// The effect of a fault on it has already been written.
    pub(crate) faulted: bool,
    /// Its answer is a list with each element on its own line.
    pub(super) lists: bool,
    /// Its response came, but its stream may continue.
    pub(super) answered: bool,
    /// The state of its exchange, in a cassette without times.
    pub(super) asked: Option<StepDraft>,
}

/// The mark of an exchange whose answer had an id of another type, and of that answer.
pub(super) const ID_TYPE_CHANGED: &str = "id type changed";

/// The oddities of an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) const ID_REUSED: Self = Self(1);
    pub(crate) const ID_TYPE_CHANGED: Self = Self(2);
    pub(crate) const BATCH: Self = Self(4);
    pub(crate) const CANCELLED: Self = Self(8);
    pub(crate) const NULL_ID: Self = Self(16);
    pub(crate) const HTTP_ERROR: Self = Self(32);

    pub(crate) fn add(&mut self, mark: Self) {
        self.0 |= mark.0;
    }

    pub(crate) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    /// The words for a cassette.
    pub(crate) fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (Self::ID_REUSED, "id reused"),
            (Self::ID_TYPE_CHANGED, ID_TYPE_CHANGED),
            (Self::BATCH, "batch"),
            (Self::CANCELLED, "cancelled"),
            (Self::NULL_ID, "null id"),
            (Self::HTTP_ERROR, "http error"),
        ];
        all.into_iter()
            .filter(move |(mark, _)| self.has(*mark))
            .map(|(_, word)| word)
    }
}

impl Open {
    pub(crate) fn new(ordinal: u64, event: &Event, era: Option<Era>) -> Self {
        Self {
            ordinal,
            at: event.at,
            scope: event.scope(),
            conduit: event.conduit,
            over: None,
            era,
            marks: Marks::default(),
            faulted: false,
            lists: false,
            answered: false,
            asked: None,
        }
    }
}
