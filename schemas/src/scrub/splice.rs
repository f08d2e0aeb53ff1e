//! Replacing parts of a text and keeping the rest.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json::{self, Span};
use crate::slices::Part as _;

/// Replacements of parts of one text.
#[derive(Debug, Default)]
pub(super) struct Edits {
    edits: Vec<(Span, Vec<u8>)>,
}

impl Edits {
    /// Replaces `part`, which is a slice of `text`.
    pub(super) fn replace(&mut self, text: &[u8], part: &[u8], with: Vec<u8>) {
        let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let end = start + part.len();
        if end <= text.len() {
            self.edits.push((Span { start, end }, with));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.edits.clear();
    }

    /// The text with its replacements.
    pub(super) fn apply(mut self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.edits.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        let at = self.drain(text, 0, 0, &mut out);
        out.extend_from_slice(text.part(at..));
        Cow::Owned(out)
    }

    /// Appends a text with the replacements of a part of it, which begins at `part`, to `out`: from
    /// `from` to the end of the last one, which is returned. None are left.
    pub(super) fn drain(
        &mut self,
        text: &[u8],
        from: usize,
        part: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        self.edits.sort_by_key(|(span, _)| span.start);
        let mut at = from;
        for (span, with) in self.edits.drain(..) {
            out.extend_from_slice(text.part(at..part + span.start));
            out.extend_from_slice(&with);
            at = part + span.end;
        }
        at
    }
}

/// The value of a JSON string, given with its quotes.
pub(super) fn meaning(source: &[u8]) -> Option<Vec<u8>> {
    let [b'"', content @ .., b'"'] = source else {
        return None;
    };
    let mut out = Vec::new();
    json::unescape(content, &mut out);
    Some(out)
}

/// The bytes of a JSON string that contains base64.
pub(super) fn decoded(source: &[u8]) -> Option<Vec<u8>> {
    STANDARD.decode(meaning(source)?).ok()
}

/// A JSON string, with its quotes.
pub(super) fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    json::escape(&String::from_utf8_lossy(text), &mut out);
    out.push(b'"');
    out
}

/// A JSON string that holds base64.
pub(super) fn encoded(bytes: &[u8]) -> Vec<u8> {
    quoted(STANDARD.encode(bytes).as_bytes())
}
