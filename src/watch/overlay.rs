//! What lies over the panels: an exchange in detail, a finding, the help.

use super::list::List;
use super::message_texts::MessageTexts;

/// A page of rows over the panels.
#[derive(Debug)]
pub(crate) struct Overlay {
    /// What it shows.
    pub(crate) what: OverlayContent,
    /// Its rows at the width at hand.
    pub(crate) rows: Vec<Row>,
    /// The cursor.
    pub(crate) list: List,
    /// What was said, once it was read.
    pub(crate) said: Option<MessageTexts>,
}

/// What an overlay shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverlayContent {
    /// The line with this number.
    Line(u64),
    /// The finding at this place.
    Finding(usize),
    /// The keys and filter words.
    Help,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// What it says: made by `report`, without anything that a terminal would obey.
    pub(crate) text: String,
    /// How it is painted.
    pub(crate) tone: Tone,
    /// Where it leads.
    pub(crate) jump: Option<Jump>,
}

/// An event of a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    /// The tape.
    pub(crate) part: u16,
    /// The event.
    pub(crate) seq: u64,
}

/// How something is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As the terminal writes.
    #[default]
    Plain,
    /// A title.
    Head,
    /// Of less weight.
    Dim,
    /// Something went wrong.
    Bad,
    /// Something is to be looked at.
    Warn,
    /// JSON: its name is painted.
    Json,
}

impl Overlay {
    /// One whose rows are yet to be made.
    pub(super) fn new(what: OverlayContent) -> Self {
        Self {
            what,
            rows: Vec::new(),
            list: List::default(),
            said: None,
        }
    }

    /// Where the chosen row leads.
    pub(super) fn jump(&self) -> Option<Jump> {
        self.rows.get(self.list.cursor)?.jump
    }
}
