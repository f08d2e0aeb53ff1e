//! Scrubbing a cassette or a capture a few exchanges at a time.
//!
//! The result is that of [`document`](super::document) for the whole text, which makes two passes:
//! first over the parts other than messages, then over everything. So do these functions: the
//! output of the first is the input of the second, and both share a redactor.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use bytes::Bytes;

use super::cassette::{self, LISTS};
use super::document::{FoundSecret, found};
use crate::json::Invalid;
use crate::recording::{Document, NoPieces, Part, Piece, Pieces};
use crate::redact::Redactor;
use crate::slices::Part as _;

/// Why a document cannot be scrubbed a few exchanges at a time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// It cannot be read, or the output cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is neither, or not in tapewright's form. A reader of the whole text can find out what is
    /// wrong, if anything.
    #[error("it must be read whole")]
    Whole,
}

impl From<NoPieces> for StreamError {
    fn from(error: NoPieces) -> Self {
        match error {
            NoPieces::Io(error) => Self::Io(error),
            NoPieces::NoObject => Self::Whole,
        }
    }
}

impl From<Invalid> for StreamError {
    fn from(_: Invalid) -> Self {
        Self::Whole
    }
}

/// Some elements of a document, some of its members, or what is between them, in memory of its own,
/// so that one thread can read it and another can scrub it.
#[derive(Debug, Default)]
pub struct Run {
    part: Part,
    // As a document, so that names around it count.
    whole: String,
    is_plain: bool,
}

impl Run {
    /// Its source text.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        unwrapped(self.whole.as_bytes(), self.part)
    }

    /// Whether it has no parts other than messages: [`beside`] would find nothing.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Scrubs it as [`within`] does. Returns the new text, if it differs.
    pub fn scrubbed(&self, redactor: &mut Redactor) -> Result<Option<NewText>, StreamError> {
        if self.part == Part::Glue {
            return Ok(None);
        }
        let part = self.part;
        Ok(match redactor.json_text(&self.whole)? {
            Cow::Owned(whole) if whole != self.whole.as_bytes() => Some(NewText { whole, part }),
            _ => None,
        })
    }
}

/// The new text of a [`Run`].
#[derive(Debug)]
pub struct NewText {
    whole: Vec<u8>,
    part: Part,
}

impl NewText {
    /// It.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        unwrapped(&self.whole, self.part)
    }
}

/// Reads a document one [`Run`] after another.
#[derive(Debug)]
pub struct Runs<R>(Pieces<R>);

impl<R: Read> Runs<R> {
    /// Reads from the start of a document.
    pub fn new(text: R) -> Self {
        Self(Pieces::new(text, &LISTS))
    }

    /// Replaces `run` by the next one; returns whether there is one.
    pub fn read(&mut self, run: &mut Run) -> Result<bool, StreamError> {
        let Some(piece) = self.0.next_piece()? else {
            return Ok(false);
        };
        run.part = piece.part;
        run.is_plain = !cassette::may_stand_beside(piece);
        run.whole.clear();
        let text = str::from_utf8(piece.text).map_err(|_| StreamError::Whole)?;
        wrap(piece.part, text, &mut run.whole);
        Ok(true)
    }
}

/// Validates that a text is a cassette or a capture.
#[derive(Debug, Default)]
pub struct Checker(Frame);

impl Checker {
    /// Validates the next run.
    pub fn check(&mut self, run: &Run) -> Result<(), StreamError> {
        let (part, text) = (run.part, run.text());
        self.0.take(Piece { part, text })
    }

    /// Validates what is around the elements of all runs.
    pub fn finish(self) -> Result<(), StreamError> {
        let document = Document::read(self.0.text);
        document.map(drop).map_err(|_| StreamError::Whole)
    }
}

/// A document without the elements of its lists.
#[derive(Debug, Default)]
struct Frame {
    text: Vec<u8>,
    // A list is open whose elements were left out.
    inside: bool,
    // A document of some elements alone, which is proved to be one.
    probe: Vec<u8>,
}

impl Frame {
    /// Handles the next piece, which is UTF-8, and validates its elements.
    fn take(&mut self, piece: Piece<'_>) -> Result<(), StreamError> {
        let Part::Elements { list, .. } = piece.part else {
            // There is a comma between two runs of elements.
            self.inside &= !piece.text.contains(&b']');
            if !self.inside {
                self.text.extend_from_slice(piece.text);
            }
            return Ok(());
        };
        self.inside = true;
        // Shapes depend on the kind of the document, which is the first member in tapewright's
        // files.
        let kind = kind_of(&self.text).ok_or(StreamError::Whole)?;
        let commas = if list == "exchanges" {
            ""
        } else {
            "\"exchanges\":[],"
        };
        let mut probe = std::mem::take(&mut self.probe);
        probe.clear();
        write!(probe, "{{{kind},{commas}\"{list}\":[")?;
        probe.extend_from_slice(piece.text);
        probe.extend_from_slice(b"]}");
        let probe = Bytes::from(probe);
        // Pieces are proven to be JSON.
        if Document::of_proven(&probe).is_err() {
            return Err(StreamError::Whole);
        }
        // There is no other reference to it now.
        self.probe = probe.try_into_mut().map(Vec::from).unwrap_or_default();
        Ok(())
    }
}

/// The type of a document with this beginning.
fn kind_of(beginning: &[u8]) -> Option<&'static str> {
    const CASSETTE: &str = r#""version":"1""#;
    const CAPTURE: &str = r#""server_label":"x""#;
    let mut whole = beginning.trim_ascii_end().to_vec();
    whole.extend_from_slice(b"]}");
    match Document::read(whole).ok()? {
        Document::Cassette(_) => Some(CASSETTE),
        Document::Capture(_) => Some(CAPTURE),
    }
}

/// Takes a piece of the new text, which is unchanged from the old one if the other argument is
/// `true`.
pub type Out<'o> = dyn FnMut(&[u8], bool) -> io::Result<()> + 'o;

/// Scrubs the parts other than messages. Returns where secrets were, and whether `out` got a
/// different text.
pub fn beside(
    redactor: &mut Redactor,
    text: impl Read,
    out: &mut Out<'_>,
    place: &mut dyn FnMut(FoundSecret),
) -> Result<bool, StreamError> {
    each(text, out, |piece| {
        let mut places = Vec::new();
        let whole = wrapped(piece)?;
        let whole = whole.as_bytes();
        let new = match cassette::beside_messages(redactor, whole, &mut places) {
            Cow::Borrowed(_) => None,
            Cow::Owned(new) => (new != whole).then_some(new),
        };
        for found in places {
            place(moved(found, piece.part));
        }
        Ok(new)
    })
}

/// Scrubs everything. Returns where secrets were, if requested, which takes as long again; and
/// whether `out` got a different text.
pub fn within(
    redactor: &mut Redactor,
    text: impl Read,
    out: &mut Out<'_>,
    mut place: Option<&mut dyn FnMut(FoundSecret)>,
) -> Result<bool, StreamError> {
    each(text, out, |piece| match &mut place {
        Some(place) => scrubbed_within(redactor, piece, Some(&mut **place)),
        None => scrubbed_within(redactor, piece, None),
    })
}

/// The new text of a piece, if it changes.
fn scrubbed_within(
    redactor: &mut Redactor,
    piece: Piece<'_>,
    place: Option<&mut dyn FnMut(FoundSecret)>,
) -> Result<Option<Vec<u8>>, StreamError> {
    let whole = wrapped(piece)?;
    if let Some(place) = place {
        // The findings are what would be replaced: without any, there is no second search.
        let places = found(redactor, whole.as_bytes());
        if places.is_empty() {
            return Ok(None);
        }
        for found in places {
            place(moved(found, piece.part));
        }
    }
    Ok(match redactor.json_text(&whole)? {
        Cow::Borrowed(_) => None,
        Cow::Owned(new) => (new != whole.as_bytes()).then_some(new),
    })
}

/// Calls `scrub` for each piece that is not glue, which returns a new text or leaves it unchanged.
fn each(
    text: impl Read,
    out: &mut Out<'_>,
    mut scrub: impl FnMut(Piece<'_>) -> Result<Option<Vec<u8>>, StreamError>,
) -> Result<bool, StreamError> {
    let mut pieces = Pieces::new(text, &LISTS);
    let mut changed = false;
    while let Some(piece) = pieces.next_piece()? {
        if piece.part == Part::Glue {
            out(piece.text, true)?;
            continue;
        }
        let new = scrub(piece)?;
        changed |= new.is_some();
        match &new {
            None => out(piece.text, true)?,
            Some(new) => out(unwrapped(new, piece.part), false)?,
        }
    }
    Ok(changed)
}

/// A piece as a document, so that names around it count.
fn wrapped(piece: Piece<'_>) -> Result<String, StreamError> {
    let text = str::from_utf8(piece.text).map_err(|_| StreamError::Whole)?;
    let mut whole = String::with_capacity(text.len() + 32);
    wrap(piece.part, text, &mut whole);
    Ok(whole)
}

/// Appends the text of a part as a document, unless it is glue.
fn wrap(part: Part, text: &str, whole: &mut String) {
    match part {
        Part::Glue => {}
        Part::Members => whole.push('{'),
        Part::Elements { list, .. } => {
            whole.push_str("{\"");
            whole.push_str(list);
            whole.push_str("\":[");
        }
    }
    whole.push_str(text);
    whole.push_str(tail(part));
}

fn unwrapped(whole: &[u8], part: Part) -> &[u8] {
    let head = match part {
        Part::Glue => 0,
        Part::Members => 1,
        Part::Elements { list, .. } => list.len() + 5,
    };
    whole.part(head..whole.len() - tail(part).len())
}

fn tail(part: Part) -> &'static str {
    match part {
        Part::Glue => "",
        Part::Members => "}",
        Part::Elements { .. } => "]}",
    }
}

/// A place in a piece as a place in its document.
fn moved(place: FoundSecret, part: Part) -> FoundSecret {
    let Part::Elements { list, first } = part else {
        return place;
    };
    let inside = place.pointer.strip_prefix('/');
    let inside = inside.and_then(|rest| rest.strip_prefix(list)?.strip_prefix('/'));
    let Some((index, rest)) = inside.map(|rest| rest.split_once('/').unwrap_or((rest, ""))) else {
        return place;
    };
    let Ok(index) = index.parse::<usize>() else {
        return place;
    };
    let slash = if rest.is_empty() { "" } else { "/" };
    FoundSecret {
        pointer: format!("/{list}/{}{slash}{rest}", first + index),
        ..place
    }
}

#[cfg(test)]
mod tests;
