//! A search for many texts at once; adding a text does not depend on the number of existing ones.
//!
//! Every text is at least [`SHORTEST`] bytes long, so that, wherever it occurs, one of [`STEP`]
//! neighbouring groups of four of its bytes begins at a multiple of [`STEP`]. Each text is filed
//! under such groups, where they are rare, and a search only examines every fifth byte.
//!
//! A peer may send another secret with each message, whose forms are some twenty texts: everything
//! here is kept in a few vectors, which [`clear`](Index::clear) leaves for the next texts.

mod groups;

use std::ops::Range;

use super::Secret;
use crate::redact::forms::{Form, Within};
use crate::slices::Part as _;
use groups::{Groups, Spot};

#[derive(Debug, Default)]
pub(super) struct Index {
    groups: Groups,
    texts: Vec<Text>,
    // Their bytes, one after another.
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Text {
    bytes: Range<usize>,
    form: Form,
    secret: Secret,
}

impl Index {
    /// Adds the texts of a secret, and returns their places. One that is too short, or that is too
    /// similar to many others, is omitted: a search would have to compare them all.
    pub(super) fn insert<'t>(
        &mut self,
        secret: Secret,
        texts: impl Iterator<Item = (&'t [u8], Form)>,
    ) -> Range<usize> {
        let first = self.texts.len();
        for (text, form) in texts {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(text);
            self.groups.file(text, self.texts.len());
            self.texts.push(Text {
                bytes: start..self.bytes.len(),
                form,
                secret,
            });
        }
        first..self.texts.len()
    }

    /// The texts at these places.
    pub(super) fn texts(&self, places: Range<usize>) -> impl Iterator<Item = (&[u8], Form)> {
        let texts = self.texts.part(places).iter();
        texts.map(|text| (self.bytes.part(text.bytes.clone()), text.form))
    }

    /// Removes all texts.
    pub(super) fn clear(&mut self) {
        self.groups.clear();
        self.texts.clear();
        self.bytes.clear();
    }

    /// Calls `found` for every text that occurs in `text`.
    pub(super) fn find(
        &self,
        text: &[u8],
        place: Within,
        mut found: impl FnMut(Range<usize>, Secret),
    ) {
        self.probe(text, |at, group| {
            for spot in self.groups.spots(group) {
                if let Some((span, secret)) = self.hit(text, at, spot, place) {
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
            if self.groups.may_know(group) && hit(number * STEP, group) {
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
        let bytes = self.bytes.part(known.bytes.clone());
        let start = at.checked_sub(spot.offset)?;
        let end = start + bytes.len();
        if text.get(start..end)? != bytes {
            return None;
        }
        Some((known.form.span(text, start..end, place)?, known.secret))
    }
}

/// The group at the start of `bytes`.
#[inline]
fn group(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|four| u32::from_le_bytes(*four))
}

/// Shorter texts are not searched for.
const SHORTEST: usize = 8;

const GROUP: usize = 4;

const STEP: usize = SHORTEST - GROUP + 1;

/// The maximum number of texts that are filed under one group.
const MOST_ALIKE: u32 = 256;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: Secret = Secret {
        kind: "token",
        mark: 7,
    };

    fn add(index: &mut Index, text: &str) {
        let one = std::iter::once((text.as_bytes(), Form::Anywhere));
        index.insert(SECRET, one);
    }

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
                add(&mut index, one);
            }
            let mut wanted: Vec<_> = texts
                .iter()
                .flat_map(|one| (0..text.len()).map(move |at| at..at + one.len()).filter(|span| {
                    text.as_bytes().get(span.clone()) == Some(one.as_bytes())
                }))
                .collect();
            wanted.sort_by_key(|span| (span.start, span.end));
            wanted.dedup();
            prop_assert_eq!(found(&index, text.as_bytes()), wanted);
        }

        #[test]
        fn every_place_counts(before in 0_usize..12, after in 0_usize..12) {
            let mut index = Index::default();
            add(&mut index, "k1l2m3n4");
            let text = format!("{}k1l2m3n4{}", "-".repeat(before), "-".repeat(after));
            prop_assert_eq!(found(&index, text.as_bytes()), vec![before..before + 8]);
            prop_assert!(index.may_stand_in(text.as_bytes()));
        }
    }

    #[test]
    fn a_cleared_index_finds_what_was_added_since() {
        let mut index = Index::default();
        add(&mut index, "k1l2m3n4");
        index.clear();
        add(&mut index, "k1l2m3n5");
        assert!(found(&index, b"a k1l2m3n4 b").is_empty());
        assert_eq!(found(&index, b"a k1l2m3n5 b"), vec![2..10]);
    }

    #[test]
    fn texts_that_are_alike_are_left_out_when_there_are_many() {
        let mut index = Index::default();
        for number in 0..1_000 {
            add(&mut index, &format!("{}{number}", "ab".repeat(60)));
        }
        add(&mut index, "abc");
        let crowd = index.groups.largest();
        assert!(crowd <= MOST_ALIKE + 5, "{crowd:?}");
        assert!(found(&index, b"abc").is_empty());
    }
}
