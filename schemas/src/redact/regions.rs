//! The parts of a long text that are worth searching.

use crate::slices::{Front as _, Part as _};

use std::ops::Range;

/// The parts of a text that can contain a secret: everything except long runs of base64.
///
/// No token starts inside a run of letters and digits without separators. This makes images cheap,
/// and avoids chance hits in them.
pub(super) struct Regions<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Regions<'t> {
    pub(super) fn of(text: &'t [u8], range: Range<usize>) -> Self {
        Self {
            text: text.front(range.end),
            at: range.start,
        }
    }

    /// The end of the run of solid blocks at `at`.
    fn solid(&self, at: usize) -> usize {
        let mut end = at;
        let mut rest = self.text.part(at..);
        while let Some((block, tail)) = rest.split_first_chunk::<BLOCK>() {
            if !is_solid(block) {
                break;
            }
            end += BLOCK;
            rest = tail;
        }
        end
    }
}

impl Iterator for Regions<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if start >= self.text.len() {
            return None;
        }
        let mut at = start;
        while at + SOLID < self.text.len() {
            let end = self.solid(at);
            if end - at >= SOLID {
                // A prefix may extend over the edge, and one may be right at it.
                self.at = end - BLOCK;
                return Some(start..at + BLOCK);
            }
            at = end + BLOCK;
        }
        self.at = self.text.len();
        Some(start..self.text.len())
    }
}

/// Letters, digits, `+` and `/` only; written without branches for the vector unit.
fn is_solid(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(true, |solid, byte| {
        let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let digit = byte.wrapping_sub(b'/') < 11;
        let plus = *byte == b'+';
        let fits = letter | digit | plus;
        solid & fits
    })
}

const BLOCK: usize = 64;

/// Shorter runs are not worth a seam.
const SOLID: usize = 8 * BLOCK;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_left_out_up_to_their_edges() {
        let text = format!("token {}= x {}", "A+/z0".repeat(400), "y".repeat(600));
        let regions: Vec<_> = Regions::of(text.as_bytes(), 0..text.len()).collect();
        assert_eq!(regions.first().map(|region| region.start), Some(0));
        let kept: usize = regions.iter().map(ExactSizeIterator::len).sum();
        assert!(regions.len() > 1 && kept < 1_000, "{regions:?}");
        for at in ["token", "= x"].map(|piece| text.find(piece).unwrap()) {
            assert!(regions.iter().any(|region| region.contains(&at)));
        }
    }

    #[test]
    fn short_texts_are_one_region() {
        for length in [1, 64, 500, 512] {
            let text = vec![b'y'; length];
            assert!(Regions::of(&text, 0..length).eq(std::iter::once(0..length)));
        }
        assert_eq!(Regions::of(b"abc", 3..3).count(), 0);
    }
}
