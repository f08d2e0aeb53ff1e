//! Caches the meaning of names, since the same few recur.

use super::names::{Name, classify};

/// Names up to [`LONGEST`] bytes and their meaning.
///
/// Each name has one slot in the table, and a new one replaces the old, so that the memory is
/// bounded and arbitrary names only cost time.
#[derive(Debug)]
pub(super) struct NameCache {
    places: Box<[Slot]>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    print: Print,
    name: Name,
}

/// Three words and a length that exactly identify a name of up to 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Print {
    words: [u64; 3],
    len: usize,
}

impl Default for NameCache {
    fn default() -> Self {
        // No name has this print: empty names are not kept.
        let empty = Slot {
            print: Print {
                words: [0; 3],
                len: 0,
            },
            name: Name::NONE,
        };
        Self {
            places: vec![empty; PLACES].into_boxed_slice(),
        }
    }
}

impl NameCache {
    #[inline]
    pub(super) fn classify(&mut self, name: &[u8], custom: &[Vec<Vec<u8>>]) -> Name {
        let Some(print) = Print::of(name) else {
            return classify(name, custom);
        };
        let Some(place) = self.places.get_mut(print.place()) else {
            return classify(name, custom);
        };
        if !place.print.is(&print) {
            *place = Slot {
                print,
                name: classify(name, custom),
            };
        }
        place.name
    }
}

impl Print {
    #[inline]
    fn of(name: &[u8]) -> Option<Self> {
        let len = name.len();
        let words = match len {
            0 => return None,
            1..4 => {
                let byte = |at: usize| u64::from(name.get(at).copied().unwrap_or_default());
                [byte(0) | byte(len / 2) << 8 | byte(len - 1) << 16, 0, 0]
            }
            4..8 => {
                let first = u32::from_le_bytes(*name.first_chunk()?);
                let last = u32::from_le_bytes(*name.last_chunk()?);
                [u64::from(first) | u64::from(last) << 32, 0, 0]
            }
            8..=LONGEST => {
                let first = u64::from_le_bytes(*name.first_chunk()?);
                let last = u64::from_le_bytes(*name.last_chunk()?);
                let middle = if len > 16 {
                    *name.get(8..)?.first_chunk()?
                } else {
                    [0; 8]
                };
                [first, last, u64::from_le_bytes(middle)]
            }
            _ => return None,
        };
        Some(Self { words, len })
    }

    /// Equality word by word: a wide load directly after the narrow stores that created the print
    /// would stall.
    #[inline]
    fn is(&self, other: &Self) -> bool {
        let [first, last, middle] = self.words;
        let differ = (first ^ other.words[0]) | (last ^ other.words[1]) | (middle ^ other.words[2]);
        differ == 0 && self.len == other.len
    }

    #[inline]
    fn place(&self) -> usize {
        let [a, b, c] = self.words;
        let mixed = a ^ b.rotate_left(21) ^ c.rotate_left(42) ^ self.len as u64;
        let hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - PLACE_BITS);
        usize::try_from(hash).unwrap_or_default()
    }
}

/// Longer names are examined each time.
const LONGEST: usize = 24;

const PLACE_BITS: u32 = 8;
const PLACES: usize = 1 << PLACE_BITS;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn prints_tell_names_apart(a in "[ab]{1,26}", b in "[ab]{1,26}") {
            if let (Some(one), Some(other)) = (Print::of(a.as_bytes()), Print::of(b.as_bytes())) {
                prop_assert_eq!(one == other, a == b);
            }
        }

        #[test]
        fn agrees_with_the_rules(names in proptest::collection::vec("(api|my|Token|_|-|Key|password|x){1,8}", 1..40)) {
            let mut cache = NameCache::default();
            for name in names.iter().chain(&names) {
                prop_assert_eq!(cache.classify(name.as_bytes(), &[]), classify(name.as_bytes(), &[]));
            }
        }
    }
}
