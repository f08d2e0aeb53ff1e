//! A search for many texts at once; adding a text does not depend on the number of existing ones.
//!
//! Every text is at least [`SHORTEST`] bytes long, so that, wherever it occurs, one of [`STEP`]
//! neighbouring groups of four of its bytes begins at a multiple of [`STEP`]. Each text is filed
//! under such groups, where they are rarest, and a search only examines every fifth byte.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::quality::RandomState;

use super::Secret;
use crate::redact::forms::{Form, Within};
use crate::slices::Part as _;

#[derive(Debug, Default)]
pub(super) struct Index {
    // A bit for each group, by its hash. Empty before the first text.
    filter: Vec<u64>,
    groups: HashMap<u32, Vec<Spot>, RandomState>,
    texts: Vec<Text>,
}

/// The position of a group in a text.
#[derive(Clone, Copy, Debug)]
struct Spot {
    text: usize,
    offset: usize,
}

#[derive(Debug)]
struct Text {
    bytes: Vec<u8>,
    form: Form,
    secret: Secret,
}

impl Index {
    /// Adds a text. One that is too short, or that is too similar to many others, is omitted: a
    /// search would have to compare them all.
    pub(super) fn insert(&mut self, bytes: Vec<u8>, form: Form, secret: Secret) {
        let Some(start) = self.rarest(&bytes) else {
            return;
        };
        if self.filter.is_empty() {
            self.filter = vec![0; 1 << (FILTER_BITS - 6)];
        }
        let text = self.texts.len();
        for offset in start..start + STEP {
            let Some(group) = group(bytes.part(offset..)) else {
                return;
            };
            let (word, bit) = place(group);
            if let Some(word) = self.filter.get_mut(word) {
                *word |= bit;
            }
            let spots = self.groups.entry(group).or_default();
            spots.push(Spot { text, offset });
        }
        self.texts.push(Text {
            bytes,
            form,
            secret,
        });
    }

    /// Calls `found` for every text that occurs in `text`.
    pub(super) fn find(
        &self,
        text: &[u8],
        place: Within,
        mut found: impl FnMut(Range<usize>, Secret),
    ) {
        self.probe(text, |at, group| {
            for spot in self.groups.get(&group).into_iter().flatten() {
                if let Some((span, secret)) = self.hit(text, at, *spot, place) {
                    found(span, secret);
                }
            }
            false
        });
    }

    /// Whether any text may occur in `text`.
    pub(super) fn may_stand_in(&self, text: &[u8]) -> bool {
        self.probe(text, |_, _| true)
    }

    /// Calls `hit` for the groups of `text` that may be known, until it returns `true`.
    #[inline]
    fn probe(&self, text: &[u8], mut hit: impl FnMut(usize, u32) -> bool) -> bool {
        if text.len() < SHORTEST {
            return false;
        }
        for (number, bytes) in text.chunks(STEP).enumerate() {
            let Some(group) = group(bytes) else { break };
            let (word, bit) = place(group);
            let known = self.filter.get(word).is_some_and(|word| word & bit != 0);
            if known && hit(number * STEP, group) {
                return true;
            }
        }
        false
    }

    fn hit(
        &self,
        text: &[u8],
        at: usize,
        spot: Spot,
        place: Within,
    ) -> Option<(Range<usize>, Secret)> {
        let known = self.texts.get(spot.text)?;
        let start = at.checked_sub(spot.offset)?;
        let end = start + known.bytes.len();
        if text.get(start..end)? != known.bytes {
            return None;
        }
        Some((known.form.span(text, start..end, place)?, known.secret))
    }

    /// The offset at which the groups of a text begin under which the fewest others are filed.
    fn rarest(&self, bytes: &[u8]) -> Option<usize> {
        let crowd = |at: usize| {
            let group = group(bytes.part(at..));
            let spots = group.and_then(|group| self.groups.get(&group));
            spots.map_or(0, Vec::len)
        };
        let crowds: Vec<usize> = (0..bytes.len().checked_sub(SHORTEST)? + STEP)
            .map(crowd)
            .collect();
        let most = |window: &[usize]| window.iter().copied().max().unwrap_or_default();
        let windows = crowds.windows(STEP).map(most).enumerate();
        let (start, crowd) = windows.min_by_key(|(_, crowd)| *crowd)?;
        (crowd < MOST_ALIKE).then_some(start)
    }
}

/// The group at the start of `bytes`.
#[inline]
fn group(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// The word and the bit of a group in the filter.
#[inline]
fn place(group: u32) -> (usize, u64) {
    let hash = group.wrapping_mul(0x9e37_79b1) >> (32 - FILTER_BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

/// Shorter texts are not searched for.
const SHORTEST: usize = 8;

const GROUP: usize = 4;

const STEP: usize = SHORTEST - GROUP + 1;

/// The maximum number of texts that are filed under one group.
const MOST_ALIKE: usize = 256;

/// 16 KiB, which fits into the processor's cache.
const FILTER_BITS: u32 = 17;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: Secret = Secret {
        kind: "token",
        mark: 7,
    };

    fn found(index: &Index, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        index.find(text, Within::Value, |span, _| found.push(span));
        found.sort_by_key(|span| (span.start, span.end));
        found.dedup();
        found
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(
            texts in prop::collection::vec("[ab]{8,14}", 1..8),
            text in "[abc]{0,60}",
        ) {
            let mut index = Index::default();
            for one in &texts {
                index.insert(one.clone().into_bytes(), Form::Anywhere, SECRET);
            }
            let kept: Vec<_> = index.texts.iter().map(|text| text.bytes.clone()).collect();
            let mut wanted: Vec<_> = kept
                .iter()
                .flat_map(|one| (0..text.len()).map(move |at| at..at + one.len()).filter(|span| {
                    text.as_bytes().get(span.clone()) == Some(one.as_slice())
                }))
                .collect();
            wanted.sort_by_key(|span| (span.start, span.end));
            wanted.dedup();
            prop_assert_eq!(found(&index, text.as_bytes()), wanted);
        }

        #[test]
        fn every_place_counts(before in 0_usize..12, after in 0_usize..12) {
            let mut index = Index::default();
            index.insert(b"k1l2m3n4".to_vec(), Form::Anywhere, SECRET);
            let text = format!("{}k1l2m3n4{}", "-".repeat(before), "-".repeat(after));
            prop_assert_eq!(found(&index, text.as_bytes()), vec![before..before + 8]);
            prop_assert!(index.may_stand_in(text.as_bytes()));
        }
    }

    #[test]
    fn texts_that_are_alike_are_left_out_when_there_are_many() {
        let mut index = Index::default();
        for number in 0..1_000 {
            let text = format!("{}{number}", "ab".repeat(60));
            index.insert(text.into_bytes(), Form::Anywhere, SECRET);
        }
        index.insert(b"abc".to_vec(), Form::Anywhere, SECRET);
        let crowd = index.groups.values().map(Vec::len).max();
        assert!(crowd <= Some(MOST_ALIKE + STEP), "{crowd:?}");
        assert!(found(&index, b"abc").is_empty());
    }
}
