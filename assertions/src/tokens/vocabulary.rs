//! The tokens of a model, and the number of them for a piece of text.

use std::collections::{BinaryHeap, HashMap};
use tapewright_schemas::slices::Part as _;

/// The maximum length of a piece that is merged as one, in bytes. Longer pieces are split, which
/// adds at most one token for each split, so that a text without a space uses memory of at most a
/// small multiple of this.
const LONGEST: usize = 1 << 20;

/// Marks a place at which no part begins any more.
const NONE: u32 = u32::MAX;

/// Tokens by their bytes. Lower numbers are merged first.
#[derive(Debug)]
pub(super) struct Vocabulary {
    ranks: HashMap<&'static [u8], u32>,
}

impl Vocabulary {
    /// From a packed list: the length of each token, in order, in a byte; a zero; then the tokens,
    /// shorter ones first and those of equal length in their order, since tokens of equal length
    /// compress better next to each other. `None` if it is not such a list.
    pub(super) fn unpack(packed: &'static [u8]) -> Option<Self> {
        let end = packed.iter().position(|length| *length == 0)?;
        let (lengths, rest) = packed.split_at_checked(end)?;
        let (_, mut rest) = rest.split_first()?;
        let mut counts = [0; 256];
        for length in lengths {
            *counts.get_mut(usize::from(*length))? += 1;
        }
        let mut by_length = Vec::with_capacity(counts.len());
        for (length, count) in counts.iter().enumerate() {
            let (tokens, longer) = rest.split_at_checked(length * count)?;
            by_length.push(tokens);
            rest = longer;
        }
        let mut ranks = HashMap::with_capacity(lengths.len());
        for (length, rank) in lengths.iter().zip(0..) {
            let length = usize::from(*length);
            let tokens = by_length.get_mut(length)?;
            let (token, after) = tokens.split_at_checked(length)?;
            *tokens = after;
            // A duplicate token would shift every later number.
            if ranks.insert(token, rank).is_some() {
                return None;
            }
        }
        rest.is_empty().then_some(Self { ranks })
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The number of tokens for these bytes, in O(n log n) time.
    pub(super) fn count(&self, piece: &[u8]) -> usize {
        piece
            .chunks(LONGEST)
            .map(|chunk| self.count_short(chunk))
            .sum()
    }

    fn count_short(&self, piece: &[u8]) -> usize {
        if piece.len() < 2 || self.ranks.contains_key(piece) {
            return 1;
        }
        Merge::new(self, piece).map_or(piece.len(), Merge::finish)
    }
}

/// Byte-pair encoding: of all adjacent pairs that form a token, the one with the lowest number is
/// merged, leftmost first, until there is none.
struct Merge<'a> {
    vocabulary: &'a Vocabulary,
    piece: &'a [u8],
    // The end of the part that begins at an index, and the beginning of the part before it.
    ends: Vec<u32>,
    before: Vec<u32>,
    // Pairs with the spans that they cover, by number, then by position, lowest first.
    pairs: BinaryHeap<std::cmp::Reverse<(u32, u32, u32)>>,
    parts: usize,
}

impl<'a> Merge<'a> {
    fn new(vocabulary: &'a Vocabulary, piece: &'a [u8]) -> Option<Self> {
        let length = u32::try_from(piece.len()).ok()?;
        let mut merge = Self {
            vocabulary,
            piece,
            ends: (1..=length).collect(),
            before: (0..=length)
                .map(|at| at.checked_sub(1).unwrap_or(NONE))
                .collect(),
            pairs: BinaryHeap::with_capacity(piece.len()),
            parts: piece.len(),
        };
        for start in 0..length.saturating_sub(1) {
            merge.push(start, start + 2);
        }
        Some(merge)
    }

    /// Remembers the pair that spans these bytes, if it is a token.
    fn push(&mut self, start: u32, end: u32) {
        let bytes = self.piece.part(start as usize..end as usize);
        if let Some(rank) = self.vocabulary.ranks.get(bytes) {
            self.pairs.push(std::cmp::Reverse((*rank, start, end)));
        }
    }

    fn end_of(&self, start: u32) -> Option<u32> {
        self.ends
            .get(start as usize)
            .copied()
            .filter(|end| *end != NONE)
    }

    fn finish(mut self) -> usize {
        while let Some(std::cmp::Reverse((_, start, end))) = self.pairs.pop() {
            let Some(middle) = self.end_of(start) else {
                continue;
            };
            // A pair is stale if one of its halves was merged with another part meanwhile.
            if middle >= end || self.end_of(middle) != Some(end) {
                continue;
            }
            self.join(start, middle, end);
        }
        self.parts
    }

    fn join(&mut self, start: u32, middle: u32, end: u32) {
        if let Some(slot) = self.ends.get_mut(start as usize) {
            *slot = end;
        }
        if let Some(slot) = self.ends.get_mut(middle as usize) {
            *slot = NONE;
        }
        if let Some(slot) = self.before.get_mut(end as usize) {
            *slot = start;
        }
        self.parts -= 1;
        if let Some(next) = self.end_of(end) {
            self.push(start, next);
        }
        let before = self.before.get(start as usize).copied();
        if let Some(before) = before.filter(|before| *before != NONE) {
            self.push(before, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_cut_short_or_tells_a_token_twice_is_none() {
        assert_eq!(Vocabulary::unpack(b"\x01\x02\x01\0abab").unwrap().len(), 3);
        for wrong in [
            &b""[..],
            b"\x01",
            b"\x01\x02\0ab",
            b"\x01\x02\0abcd",
            b"\x01\x01\0aa",
        ] {
            assert!(Vocabulary::unpack(wrong).is_none(), "{wrong:?}");
        }
    }

    #[test]
    fn the_lowest_number_is_merged_first_and_the_leftmost_of_equals() {
        // a, b, c, then bc before ab: `abc` is a and bc.
        let vocabulary = Vocabulary::unpack(b"\x01\x01\x01\x02\x02\x02\0abcbcabaa").unwrap();
        assert_eq!(vocabulary.count(b"abc"), 2);
        assert_eq!(vocabulary.count(b"ab"), 1);
        // aa, a
        assert_eq!(vocabulary.count(b"aaa"), 2);
        assert_eq!(vocabulary.count(b"aaaa"), 2);
        assert_eq!(vocabulary.count(b"cab"), 2);
    }

    #[test]
    fn bytes_that_are_no_token_count_each() {
        let vocabulary = Vocabulary::unpack(b"\x01\0a").unwrap();
        assert_eq!(vocabulary.count(b"xyz"), 3);
    }

    #[test]
    fn a_text_without_an_end_is_cut() {
        let vocabulary = Vocabulary::unpack(b"\x01\x02\0aaa").unwrap();
        assert_eq!(vocabulary.count(&vec![b'a'; 3 * LONGEST]), 3 * LONGEST / 2);
    }
}
