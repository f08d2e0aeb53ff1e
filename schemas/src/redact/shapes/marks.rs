//! Beginnings of tokens that contain a `_` or a `-`: most of them, and rare in prose.
//!
//! One vector search finds the marks of a text; the two bytes before a mark determine whether it
//! can belong to a beginning. That is cheaper than searching for some hundred beginnings at once.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memchr2_iter;

use super::finder::{Begin, longest_first, token};
use crate::slices::Part as _;

/// The beginnings that have a mark.
#[derive(Debug)]
pub(super) struct Marks {
    // A bit for each pair of bytes that may precede a mark.
    before: Box<[u64; 1024]>,
    // By the two bytes and the mark: the distance from the start of a beginning to the mark.
    begins: HashMap<[u8; 3], Vec<(usize, Vec<Begin>)>>,
}

/// The offset of the mark in a beginning, if it has one after two letters or digits.
pub(super) fn place(prefix: &str) -> Option<usize> {
    let prefix = prefix.as_bytes();
    let at = prefix.iter().position(|byte| matches!(byte, b'_' | b'-'))?;
    let before = prefix.get(at.checked_sub(2)?..at)?;
    before.iter().all(u8::is_ascii_alphanumeric).then_some(at)
}

impl Marks {
    /// From the beginnings that have one.
    pub(super) fn of(all: Vec<Begin>) -> Self {
        let mut marks = Self {
            before: Box::new([0; 1024]),
            begins: HashMap::new(),
        };
        for (prefix, shape) in all {
            let bytes = prefix.as_bytes();
            let Some(at) = place(prefix) else { continue };
            let Some([a, b, mark]) = bytes.get(at - 2..=at) else {
                continue;
            };
            let (word, bit) = slot(*a, *b);
            if let Some(word) = marks.before.get_mut(word) {
                *word |= bit;
            }
            let places = marks.begins.entry([*a, *b, *mark]).or_default();
            match places.iter_mut().find(|(place, _)| *place == at) {
                Some((_, begins)) => begins.push((prefix, shape)),
                None => places.push((at, vec![(prefix, shape)])),
            }
        }
        for (_, begins) in marks.begins.values_mut().flatten() {
            longest_first(begins);
        }
        marks
    }

    /// Calls `found` for every token that starts with a beginning inside `region`.
    #[inline]
    pub(super) fn find(
        &self,
        text: &[u8],
        region: Range<usize>,
        found: &mut impl FnMut(&'static str, Range<usize>),
    ) {
        let end = text.len().min(region.end + LONGEST);
        let part = text.part(region.start..end);
        let mut decided = region.start;
        for at in memchr2_iter(b'_', b'-', part) {
            let at = region.start + at;
            let Some([a, b, mark]) = at.checked_sub(2).and_then(|from| text.get(from..=at)) else {
                continue;
            };
            let (word, bit) = slot(*a, *b);
            let is_known = self.before.get(word).is_some_and(|word| word & bit != 0);
            if !is_known || at < decided {
                continue;
            }
            let Some(places) = self.begins.get(&[*a, *b, *mark]) else {
                continue;
            };
            for (place, begins) in places {
                let Some(start) = at.checked_sub(*place) else {
                    continue;
                };
                if start < decided || start >= region.end {
                    continue;
                }
                if let Some((kind, span)) = token(begins, text, start) {
                    decided = span.end;
                    found(kind, span);
                    break;
                }
            }
        }
    }
}

/// The word and the bit of two bytes.
fn slot(a: u8, b: u8) -> (usize, u64) {
    let index = usize::from(a) << 8 | usize::from(b);
    (index / 64, 1 << (index % 64))
}

/// The maximum offset of a mark within a beginning.
const LONGEST: usize = 16;

#[cfg(test)]
mod tests {
    use super::super::table::shapes;
    use super::*;

    #[test]
    fn a_mark_stands_behind_two_letters() {
        assert_eq!(place("sk-ant-"), Some(2));
        assert_eq!(place("github_pat_"), Some(6));
        for without in ["eyJ", "-us", "-----BEGIN ", " -u "] {
            assert_eq!(place(without), None);
        }
        let prefixes = shapes().flat_map(|shape| shape.prefixes);
        let furthest = prefixes.filter_map(|prefix| place(prefix)).max();
        assert!(furthest < Some(LONGEST));
    }
}
