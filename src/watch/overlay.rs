//! Pages over the panels: an exchange in detail, a finding, the help.

use super::list::List;
use super::message_texts::MessageTexts;

/// A page of rows over the panels.
#[derive(Debug)]
pub(crate) struct Overlay {
    /// Its subject.
    pub(crate) what: OverlayContent,
    /// Its rows at the current width.
    pub(crate) rows: Vec<Row>,
    /// The cursor.
    pub(crate) list: List,
    /// The messages, once they have been read.
    pub(crate) said: Option<MessageTexts>,
}

/// The subject of an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverlayContent {
    /// The line with this number.
    Line(u64),
    /// The finding at this index.
    Finding(usize),
    /// The keys and filter words.
    Help,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The text: made by `report`, without control characters.
    pub(crate) text: String,
    /// Its style.
    pub(crate) tone: Tone,
    /// The target of its link.
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

/// A style, independent of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// The default.
    #[default]
    Plain,
    /// A title.
    Head,
    /// Less important.
    Dim,
    /// A failure.
    Bad,
    /// A warning.
    Warn,
    /// JSON: the name is coloured.
    Json,
}

impl Overlay {
    /// An overlay without rows yet.
    pub(super) fn new(what: OverlayContent) -> Self {
        Self {
            what,
            rows: Vec::new(),
            list: List::default(),
            said: None,
        }
    }

    /// The target of the selected row.
    pub(super) fn jump(&self) -> Option<Jump> {
        self.rows.get(self.list.cursor)?.jump
    }
}
