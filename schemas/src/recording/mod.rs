//! The three file formats of a recording, distinguished by their contents.
//!
//! A tape is read event by event by [`tape::Reader`](crate::tape::Reader). A cassette and a capture
//! are one JSON document each; a caller that wants events instead gets them from [`Recording`], and
//! need not know which file they came from.

mod document;
mod pieces;

use bytes::Bytes;

use crate::capture::Capture;
use crate::cassette::Cassette;
use crate::event::Event;
use crate::json;
use crate::tape::{Ending, Header};

pub use document::DocumentError;
pub(crate) use document::{Element, each_element, elements, object};
pub(crate) use pieces::Objects;
pub use pieces::{NoPieces, Part, Piece, Pieces};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A journal of one recording, as JSON Lines.
    Tape,
    /// Exchanges for replay.
    Cassette,
    /// Exchanges for the session invariants.
    Capture,
}

impl FileKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tape => "tape",
            Self::Cassette => "cassette",
            Self::Capture => "capture",
        }
    }

    /// Whether this first line of a file is the header of a tape.
    #[must_use]
    pub fn is_tape_header(line: &[u8]) -> bool {
        json::find(line, &["tape"]).is_some() && json::find(line, &["exchanges"]).is_none()
    }
}

/// A recording in memory, from any format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The header; for a cassette or a capture, as far as the file has the data.
    pub header: Header,
    /// The events, in order.
    pub events: Vec<Event>,
    /// How it ends.
    pub ending: Ending,
    /// Whether the events have times. A hand-written cassette and every capture have none.
    pub timed: bool,
}

/// A cassette or a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Exchanges for replay.
    Cassette(Cassette),
    /// Exchanges for the session invariants.
    Capture(Capture),
}

impl Document {
    /// Reads a file that is not a tape.
    pub fn read(text: impl Into<Bytes>) -> Result<Self, DocumentError> {
        let text = document::checked(&text.into())?;
        Self::of_proven(&text)
    }

    /// Like [`read`](Self::read), for text that was validated as a single JSON value.
    pub(crate) fn of_proven(text: &Bytes) -> Result<Self, DocumentError> {
        let root = Element::root(text);
        let has = |name: &str| root.source(name).is_some();
        if text.first() == Some(&b'[') || has("server_label") {
            return Capture::read(text, root).map(Self::Capture);
        }
        if has("version") || has("exchanges") {
            return Cassette::read(text, root).map(Self::Cassette);
        }
        Err(DocumentError::Unknown)
    }

    /// Its format.
    #[must_use]
    pub fn kind(&self) -> FileKind {
        match self {
            Self::Cassette(_) => FileKind::Cassette,
            Self::Capture(_) => FileKind::Capture,
        }
    }

    /// Converts it to events.
    #[must_use]
    pub fn recording(&self) -> Recording {
        match self {
            Self::Cassette(cassette) => cassette.recording(),
            Self::Capture(capture) => capture.recording(),
        }
    }
}
