//! Secrets that were once identified by their name or place, so that they are recognized wherever
//! they occur again: in a sentence, in a URL, in base64.
//!
//! A value is kept in memory, never written and never shown. Only values that can be distinguished
//! from ordinary text are kept (`telling`), and at most [`MOST_VALUES`] and [`MOST_BYTES`] of them:
//! the least recently seen value makes room.

mod index;
mod telling;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;

use foldhash::quality::RandomState;

use super::common::Reach;
use super::forms::{Form, Forms, Within};
use index::Index;

/// The kind of a learned value, and the mark of its placeholder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secret {
    pub(super) kind: &'static str,
    pub(super) mark: u128,
}

/// The secrets of one tape that are recognized by value.
#[derive(Default)]
pub(super) struct Learned {
    values: HashMap<Box<[u8]>, LearnedSecret, RandomState>,
    // Values that cannot be distinguished from other text: they occur just as often.
    plain: HashSet<Box<[u8]>, RandomState>,
    index: Index,
    // Gives its room to the next index.
    spare: Index,
    forms: Forms,
    bytes: usize,
    // The number of learned values; never decreases.
    count: u64,
    // When a value was last seen.
    tick: u64,
    // Something was learned since the last check.
    fresh: bool,
    off: bool,
}

#[derive(Clone, Debug)]
struct LearnedSecret {
    secret: Secret,
    // Its forms in the index.
    texts: Range<usize>,
    seen: u64,
}

impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learned")
            .field("values", &self.values.len())
            .field("off", &self.off)
            .finish_non_exhaustive()
    }
}

impl Learned {
    /// Stops learning, and forgets all values.
    pub(super) fn turn_off(&mut self) {
        *self = Self {
            count: self.count,
            off: true,
            ..Self::default()
        };
    }

    /// Keeps a value from a place where only secrets occur, if it can be distinguished from other
    /// text.
    pub(super) fn note(
        &mut self,
        value: &[u8],
        kind: &'static str,
        mark: impl FnOnce(&[u8]) -> u128,
    ) {
        if self.off || !telling::LENGTHS.contains(&value.len()) {
            return;
        }
        self.tick += 1;
        if let Some(known) = self.values.get_mut(value) {
            known.seen = self.tick;
            return;
        }
        if self.plain.contains(value) {
            return;
        }
        let Some(reach) = telling::reach(value) else {
            // Longer values are examined each time, so that these take at most `MOST_BYTES`.
            if value.len() <= MOST_BYTES / MOST_VALUES {
                if self.plain.len() == MOST_VALUES {
                    self.plain.clear();
                }
                self.plain.insert(value.into());
            }
            return;
        };
        if self.values.len() == MOST_VALUES || self.bytes + value.len() > MOST_BYTES {
            self.forget_half();
        }
        let secret = Secret {
            kind,
            mark: mark(value),
        };
        let kept = LearnedSecret {
            secret,
            texts: self.index_forms(value, reach, secret),
            seen: self.tick,
        };
        self.bytes += value.len();
        self.values.insert(value.into(), kept);
        self.count += 1;
        self.fresh = true;
    }

    /// Calls `found` for every occurrence of a learned value, in any of its forms.
    #[inline]
    pub(super) fn find(&self, text: &[u8], place: Within, found: impl FnMut(Range<usize>, Secret)) {
        if !self.values.is_empty() {
            self.index.find(text, place, found);
        }
    }

    /// Whether a text may contain a learned value. Rarely a false positive, never a false negative.
    #[inline]
    pub(super) fn may_stand_in(&self, text: &[u8]) -> bool {
        !self.values.is_empty() && self.index.may_stand_in(text)
    }

    /// How much was learned. Never decreases.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing that was learned has been forgotten.
    pub(super) fn knows_all(&self) -> bool {
        !self.off && self.values.len() as u64 == self.count
    }

    /// Whether something was learned since the last [`begin`](Self::begin).
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Begins a text: values learned from here on are new.
    pub(super) fn begin(&mut self) {
        self.fresh = false;
    }

    /// The learned values, with their kinds, for another tape.
    pub(super) fn values(&self) -> impl Iterator<Item = (&[u8], &'static str)> {
        self.values
            .iter()
            .map(|(value, kept)| (&**value, kept.secret.kind))
    }

    /// Adds the forms of a value to the index, and returns their places there.
    fn index_forms(&mut self, value: &[u8], reach: Reach, secret: Secret) -> Range<usize> {
        if reach == Reach::Anywhere
            && let Ok(text) = std::str::from_utf8(value)
        {
            self.forms.write(text);
            return self.index.insert(secret, self.forms.iter());
        }
        let whole = std::iter::once((value, Form::Words));
        self.index.insert(secret, whole)
    }

    /// Forgets the least recently seen values. Half of all at once, to amortize the cost of
    /// building a new search.
    fn forget_half(&mut self) {
        let mut all: Vec<_> = self.values.drain().collect();
        all.sort_unstable_by_key(|(_, kept)| Reverse(kept.seen));
        std::mem::swap(&mut self.index, &mut self.spare);
        self.index.clear();
        self.bytes = 0;
        for (value, mut kept) in all.into_iter().take(MOST_VALUES / 2) {
            if self.bytes + value.len() <= MOST_BYTES / 2 {
                let texts = self.spare.texts(kept.texts);
                kept.texts = self.index.insert(kept.secret, texts);
                self.bytes += value.len();
                self.values.insert(value, kept);
            }
        }
    }
}

/// The maximum number of values of one tape.
const MOST_VALUES: usize = 256;

/// The maximum total length, in bytes. Their forms take some thirty times as much.
const MOST_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(learned: &mut Learned, value: &str) {
        learned.note(value.as_bytes(), "password", |value| value.len() as u128);
    }

    fn hits(learned: &Learned, text: &str) -> Vec<String> {
        let mut hits = Vec::new();
        learned.find(text.as_bytes(), Within::Value, |span, _| {
            hits.push(text.get(span).unwrap().to_owned());
        });
        hits
    }

    #[test]
    fn what_was_not_seen_for_longest_is_forgotten_first() {
        let mut learned = Learned::default();
        let value = |number: usize| format!("s3cr3t-{number:05}x");
        noted(&mut learned, "h4ndle-With-c4re");
        for number in 0..10 * MOST_VALUES {
            noted(&mut learned, &value(number));
            noted(&mut learned, "h4ndle-With-c4re");
            assert!(learned.values.len() <= MOST_VALUES);
        }
        assert_eq!(hits(&learned, "a h4ndle-With-c4re b"), ["h4ndle-With-c4re"]);
        let last = value(10 * MOST_VALUES - 1);
        assert_eq!(hits(&learned, &last), [last.as_str()]);
        assert!(hits(&learned, &value(0)).is_empty());
        assert_eq!(learned.count(), 10 * MOST_VALUES as u64 + 1);
    }

    #[test]
    fn memory_is_bounded_in_bytes() {
        let mut learned = Learned::default();
        for number in 0..MOST_VALUES {
            noted(&mut learned, &format!("{number}aB9c").repeat(200));
            assert!(learned.bytes <= MOST_BYTES);
        }
        assert!(learned.values.len() > 8);
    }

    #[test]
    fn debug_tells_no_value() {
        let mut learned = Learned::default();
        noted(&mut learned, "h4ndle-With-c4re");
        assert!(!format!("{learned:?}").contains("h4ndle"));
        learned.turn_off();
        noted(&mut learned, "h4ndle-With-c4re");
        assert!(hits(&learned, "h4ndle-With-c4re").is_empty());
    }
}
