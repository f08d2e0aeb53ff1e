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
use crate::redact::{Redactor, Standing};
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

/// The result of [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// It consists of messages only: [`beside`] would find nothing, and the second redactor has
    /// read everything.
    pub is_plain: bool,
    /// It contains no secrets, as far as that redactor has read.
    pub is_clean: bool,
    /// The length of the text up to the last piece that taught that redactor a secret.
    pub taught: u64,
    /// The state of that redactor there.
    pub standing: Option<Standing>,
}

/// Validates that a text is a cassette or a capture, and has `redactor` adopt the placeholders in
/// it. In the same pass `first` reads it as [`within`] does, and `out` gets the new text, as long as
/// the text consists of messages only.
pub fn check(
    text: impl Read,
    redactor: &mut Redactor,
    first: &mut Redactor,
    out: &mut Out<'_>,
) -> Result<Checked, StreamError> {
    let mut checked = Checked {
        is_plain: true,
        is_clean: true,
        taught: 0,
        standing: first.standing(),
    };
    let (mut length, mut learned) = (0, first.learned());
    let mut pieces = Pieces::new(text, &LISTS);
    let mut frame = Frame::default();
    while let Some(piece) = pieces.next_piece()? {
        redactor.adopt(piece.text);
        frame.take(piece)?;
        length += piece.text.len() as u64;
        checked.is_plain &= !cassette::may_stand_beside(piece);
        if !checked.is_plain {
            continue;
        }
        let new = scrubbed_within(first, piece, None)?;
        checked.is_clean &= new.is_none();
        // After it has forgotten a secret, a second reading cannot be compared.
        if checked.standing.is_some() {
            put(piece, new.as_deref(), out)?;
        }
        if std::mem::replace(&mut learned, first.learned()) != first.learned() {
            checked.taught = length;
            checked.standing = first.standing();
        }
    }
    if Document::read(frame.text).is_err() {
        return Err(StreamError::Whole);
    }
    Ok(checked)
}

/// A document without the elements of its lists.
#[derive(Default)]
struct Frame {
    text: Vec<u8>,
    // A list is open whose elements were left out.
    inside: bool,
    // A document of some elements alone, which is proved to be one.
    probe: Vec<u8>,
}

impl Frame {
    /// Handles the next piece, and validates its elements.
    fn take(&mut self, piece: Piece<'_>) -> Result<(), StreamError> {
        if str::from_utf8(piece.text).is_err() {
            return Err(StreamError::Whole);
        }
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
        if std::str::from_utf8(piece.text).is_err() {
            return Err(StreamError::Whole);
        }
        let whole = wrapped(piece);
        let new = match cassette::beside_messages(redactor, &whole, &mut places) {
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

/// Takes the new text of a piece, with the redactor and the length of the text so far; returns
/// whether that is enough.
pub type Taking<'o> = dyn FnMut(&[u8], &Redactor, u64) -> io::Result<bool> + 'o;

/// Like [`within`], until `out` has enough.
pub fn within_until(
    redactor: &mut Redactor,
    text: impl Read,
    out: &mut Taking<'_>,
) -> Result<(), StreamError> {
    let mut pieces = Pieces::new(text, &LISTS);
    let mut length = 0;
    let mut is_enough = false;
    while !is_enough && let Some(piece) = pieces.next_piece()? {
        length += piece.text.len() as u64;
        let new = scrubbed_within(redactor, piece, None)?;
        put(piece, new.as_deref(), &mut |text, _| {
            is_enough = out(text, redactor, length)?;
            Ok(())
        })?;
    }
    Ok(())
}

/// Gives `out` a piece, or its new text.
fn put(piece: Piece<'_>, new: Option<&[u8]>, out: &mut Out<'_>) -> io::Result<()> {
    match new {
        None => out(piece.text, true),
        Some(new) => out(unwrapped(new, piece.part), false),
    }
}

/// The new text of a piece, if it changes.
fn scrubbed_within(
    redactor: &mut Redactor,
    piece: Piece<'_>,
    place: Option<&mut dyn FnMut(FoundSecret)>,
) -> Result<Option<Vec<u8>>, StreamError> {
    if piece.part == Part::Glue {
        return Ok(None);
    }
    let whole = wrapped(piece);
    if let Some(place) = place {
        // The findings are what would be replaced: without any, there is no second search.
        let places = found(redactor, &whole);
        if places.is_empty() {
            return Ok(None);
        }
        for found in places {
            place(moved(found, piece.part));
        }
    }
    Ok(match redactor.json(&whole)? {
        Cow::Borrowed(_) => None,
        Cow::Owned(new) => (new != whole).then_some(new),
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
        if std::str::from_utf8(piece.text).is_err() {
            return Err(StreamError::Whole);
        }
        let new = scrub(piece)?;
        changed |= new.is_some();
        put(piece, new.as_deref(), out)?;
    }
    Ok(changed)
}

/// A piece as a document, so that names around it count.
fn wrapped(piece: Piece<'_>) -> Vec<u8> {
    let mut whole = Vec::with_capacity(piece.text.len() + 32);
    whole.push(b'{');
    if let Part::Elements { list, .. } = piece.part {
        whole.push(b'"');
        whole.extend_from_slice(list.as_bytes());
        whole.extend_from_slice(b"\":[");
    }
    whole.extend_from_slice(piece.text);
    whole.extend_from_slice(tail(piece.part));
    whole
}

fn unwrapped(whole: &[u8], part: Part) -> &[u8] {
    let head = match part {
        Part::Elements { list, .. } => list.len() + 5,
        _ => 1,
    };
    whole.part(head..whole.len() - tail(part).len())
}

fn tail(part: Part) -> &'static [u8] {
    match part {
        Part::Elements { .. } => b"]}",
        _ => b"}",
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
