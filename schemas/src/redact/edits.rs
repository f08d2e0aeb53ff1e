//! What to replace, and where.

use std::cmp::Reverse;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use super::placeholders;
use crate::json::raw_offset;
use crate::slices::{Part as _, PartMut as _};

/// One replacement, in the coordinates of the current text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
    pub(super) rank: Rank,
    /// For a value that was not a string: quotes to add, with this many backslashes each.
    pub(super) quote: Option<u32>,
    /// Identifies the secret value; the value itself is never kept.
    pub(super) mark: u128,
}

/// Which rule wins if two find the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Name,
    Pattern,
    /// A value that is configured.
    Value,
    Shape,
}

/// The edits of one payload, and the two hash functions behind their marks.
#[derive(Debug, Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
    seeds: (RandomState, RandomState),
    serial: u64,
}

impl Edits {
    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The edits after the first `from`.
    pub(super) fn since(&self, from: usize) -> &[Edit] {
        self.list.part(from..)
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    pub(super) fn as_slice(&self) -> &[Edit] {
        &self.list
    }

    /// Notes a secret inside a string or a free text.
    pub(super) fn text(&mut self, span: Range<usize>, kind: &'static str, rank: Rank) {
        let Range { start, end } = span;
        self.list.push(Edit {
            start,
            end,
            kind,
            rank,
            quote: None,
            mark: 0,
        });
    }

    /// Notes a secret that is a whole JSON value other than a string.
    pub(super) fn value(&mut self, span: Range<usize>, kind: &'static str, backslashes: u32) {
        let Range { start, end } = span;
        let quote = Some(backslashes);
        self.list.push(Edit {
            start,
            end,
            kind,
            rank: Rank::Name,
            quote,
            mark: 0,
        });
    }

    /// Notes a secret whose meaning, and so its mark, is not its text.
    pub(super) fn valued(
        &mut self,
        span: Range<usize>,
        kind: &'static str,
        rank: Rank,
        mark: u128,
    ) {
        let Range { start, end } = span;
        self.list.push(Edit {
            start,
            end,
            kind,
            rank,
            quote: None,
            mark,
        });
    }

    /// The mark of a value.
    pub(super) fn mark(&self, value: &[u8]) -> u128 {
        self.mark_of(&value)
    }

    /// Whether a text may be read differently after its edits: text next to an edit gets a word
    /// boundary where there was none (white space and quotes are boundaries already), or a value or
    /// pattern of the user included a quote or a separator.
    pub(super) fn makes_edges(&self, text: &[u8]) -> bool {
        let soft = |at: Option<usize>| {
            let byte = at.and_then(|at| text.get(at)).copied().unwrap_or(b' ');
            !matches!(byte, b'"' | b'\'' | b' ' | b'\t' | b'\r' | b'\n')
        };
        let any = |edit: &Edit| matches!(edit.rank, Rank::Value | Rank::Pattern);
        self.list
            .iter()
            .any(|edit| any(edit) || soft(edit.start.checked_sub(1)) || soft(Some(edit.end)))
    }

    /// Notes a secret whose mark is known.
    pub(super) fn marked(&mut self, span: Range<usize>, kind: &'static str, mark: u128) {
        let Range { start, end } = span;
        self.list.push(Edit {
            start,
            end,
            kind,
            rank: Rank::Shape,
            quote: None,
            mark,
        });
        self.join(0);
    }

    /// Removes edits after `end`, and truncates those that extend over it.
    pub(super) fn cut(&mut self, end: usize) {
        self.list.retain_mut(|edit| {
            edit.end = edit.end.min(end);
            edit.start < end
        });
    }

    /// A mark that no value has.
    pub(super) fn fresh_mark(&mut self) -> u128 {
        self.serial += 1;
        self.mark_of(&(u64::MAX, self.serial))
    }

    fn mark_of(&self, value: &impl std::hash::Hash) -> u128 {
        u128::from(self.seeds.0.hash_one(value)) << 64 | u128::from(self.seeds.1.hash_one(value))
    }

    /// Sorts the edits from `from` on, joins those that overlap, excludes existing placeholders,
    /// and marks every value.
    pub(super) fn settle(&mut self, text: &[u8], from: usize) {
        if self.list.len() == from {
            return;
        }
        self.spare_placeholders(text, from);
        self.seal(text, from);
    }

    /// Like [`settle`](Self::settle), for edits that already exclude placeholders.
    pub(super) fn seal(&mut self, text: &[u8], from: usize) {
        self.join(from);
        for at in from..self.list.len() {
            let Some(edit) = self.list.get(at) else {
                continue;
            };
            if edit.mark == 0 {
                let mark = self.mark_of(&text.part(edit.start..edit.end));
                if let Some(edit) = self.list.get_mut(at) {
                    edit.mark = mark;
                }
            }
        }
    }

    fn spare_placeholders(&mut self, text: &[u8], from: usize) {
        let known = placeholders::spans(text);
        if known.is_empty() {
            return;
        }
        let mut kept = from;
        for at in from..self.list.len() {
            let Some(mut edit) = self.list.get(at).copied() else {
                continue;
            };
            let first = known.partition_point(|known| known.end <= edit.start);
            let mut covered = 0;
            for known in known.part(first..) {
                if known.start >= edit.end {
                    break;
                }
                edit.start = edit.start.min(known.start);
                edit.end = edit.end.max(known.end);
                covered += known.len();
            }
            if covered < edit.end - edit.start {
                if let Some(slot) = self.list.get_mut(kept) {
                    *slot = edit;
                }
                kept += 1;
            }
        }
        self.list.truncate(kept);
    }

    fn join(&mut self, from: usize) {
        let fresh = self.list.part_mut(from..);
        if fresh.len() < 2 {
            return;
        }
        fresh.sort_unstable_by_key(|edit| (edit.start, Reverse(edit.end), Reverse(edit.rank)));
        let mut last = from;
        for at in from + 1..self.list.len() {
            let Some(next) = self.list.get(at).copied() else {
                continue;
            };
            let Some(kept) = self.list.get_mut(last) else {
                continue;
            };
            if next.start >= kept.end {
                last += 1;
                if let Some(slot) = self.list.get_mut(last) {
                    *slot = next;
                }
            } else if next.end > kept.end {
                kept.end = next.end;
                kept.mark = 0;
                if next.rank > kept.rank {
                    kept.kind = next.kind;
                    kept.rank = next.rank;
                }
            }
        }
        self.list.truncate(last + 1);
    }

    /// Moves the edits from `from` on by `by` bytes.
    pub(super) fn shift(&mut self, from: usize, by: usize) {
        for edit in self.list.part_mut(from..) {
            edit.start += by;
            edit.end += by;
        }
    }

    /// Maps settled edits of a string's value to its source text, which starts at `by`. `meaning`
    /// is `None` if the two do not differ.
    pub(super) fn lift(&mut self, from: usize, content: &[u8], meaning: Option<&[u8]>, by: usize) {
        let (mut raw, mut decoded) = (0, 0);
        for edit in self.list.part_mut(from..) {
            edit.quote = edit
                .quote
                .map(|backslashes| (2 * backslashes + 1).min(MOST_BACKSLASHES));
            if let Some(meaning) = meaning {
                for (bound, forward) in [(&mut edit.start, false), (&mut edit.end, true)] {
                    let at = char_boundary(meaning, *bound, forward);
                    // Each step starts where the last one ended, so that the whole is linear.
                    raw += raw_offset(content.part(raw..), at.saturating_sub(decoded));
                    decoded = decoded.max(at);
                    *bound = raw;
                }
            }
            edit.start += by;
            edit.end += by;
        }
    }
}

/// The nearest start of a character, or an end of the text if there is none: free text need not be
/// UTF-8.
fn char_boundary(text: &[u8], mut at: usize, forward: bool) -> usize {
    while at > 0 && text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
        at = if forward { at + 1 } else { at - 1 };
    }
    at
}

/// Strings in strings are followed to four levels; deeper quoting is not produced.
const MOST_BACKSLASHES: u32 = 1_023;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_begin_inside_a_character() {
        for forward in [false, true] {
            assert_eq!(char_boundary(b"\xa3\xa3i", 0, forward), 0);
        }
        assert_eq!(char_boundary(b"a\xa3\xa3", 1, true), 3);
        assert_eq!(char_boundary(b"\xa3\xa3", 1, false), 0);
    }

    fn spans(edits: &Edits) -> Vec<(usize, usize)> {
        edits
            .as_slice()
            .iter()
            .map(|edit| (edit.start, edit.end))
            .collect()
    }

    #[test]
    fn overlaps_are_joined_and_the_shape_names_the_kind() {
        let mut edits = Edits::default();
        edits.text(10..20, "token", Rank::Name);
        edits.text(10..20, "jwt", Rank::Shape);
        edits.text(2..5, "token", Rank::Name);
        edits.text(15..22, "token", Rank::Name);
        edits.settle(&[b'x'; 30], 0);
        assert_eq!(spans(&edits), [(2, 5), (10, 22)]);
        assert_eq!(edits.as_slice()[1].kind, "jwt");
    }

    #[test]
    fn equal_values_have_equal_marks() {
        let mut edits = Edits::default();
        edits.text(0..2, "token", Rank::Name);
        edits.text(2..4, "token", Rank::Name);
        edits.text(4..6, "token", Rank::Name);
        edits.settle(b"ababcd", 0);
        let marks: Vec<_> = edits.as_slice().iter().map(|edit| edit.mark).collect();
        assert_eq!(marks[0], marks[1]);
        assert_ne!(marks[0], marks[2]);
    }

    #[test]
    fn placeholders_are_left_alone() {
        let text = b"a <REDACTED:token#1> b";
        let mut edits = Edits::default();
        edits.text(3..8, "pattern", Rank::Pattern);
        edits.text(2..20, "pattern", Rank::Pattern);
        edits.settle(text, 0);
        assert!(edits.as_slice().is_empty());
        edits.text(0..5, "pattern", Rank::Pattern);
        edits.settle(text, 0);
        assert_eq!(spans(&edits), [(0, 20)]);
    }

    #[test]
    fn edits_are_lifted_through_escapes() {
        let content = br#"\u00e9\n\"se\u0063ret\"x"#;
        let meaning = "é\n\"secret\"x".as_bytes();
        let mut edits = Edits::default();
        edits.text(4..10, "token", Rank::Name);
        edits.lift(0, content, Some(meaning), 100);
        assert_eq!(
            &content[edits.as_slice()[0].start - 100..edits.as_slice()[0].end - 100],
            br"se\u0063ret"
        );
    }
}
