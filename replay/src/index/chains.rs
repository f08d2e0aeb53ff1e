//! Lists of takes under hashed keys, in recorded order, without an allocation for each.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Ordinals of takes by key.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    ends: HashMap<u64, Ends, BuildHasherDefault<AsItIs>>,
    // What follows each entry.
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Entry,
    last: Entry,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    ordinal: u32,
    next: Option<Entry>,
}

/// One place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32);

impl Chains {
    /// Room for so many entries.
    pub(crate) fn with_capacity(entries: usize) -> Self {
        Self {
            ends: HashMap::with_capacity_and_hasher(entries, BuildHasherDefault::default()),
            links: Vec::with_capacity(entries),
        }
    }

    /// Appends a take to the list under a key.
    pub(crate) fn push(&mut self, key: u64, ordinal: u32) {
        let Ok(place) = u32::try_from(self.links.len()) else {
            return;
        };
        let entry = Entry(place);
        self.links.push(Link {
            ordinal,
            next: None,
        });
        let ends = self.ends.entry(key).or_insert(Ends {
            first: entry,
            last: entry,
        });
        if ends.last != entry {
            let before = std::mem::replace(&mut ends.last, entry);
            if let Some(link) = self.links.get_mut(before.0 as usize) {
                link.next = Some(entry);
            }
        }
    }

    /// The first entry under a key.
    pub(crate) fn first(&self, key: u64) -> Option<Entry> {
        self.ends.get(&key).map(|ends| ends.first)
    }

    /// The entry behind this one.
    pub(crate) fn next(&self, entry: Entry) -> Option<Entry> {
        self.links.get(entry.0 as usize)?.next
    }

    /// The take of an entry.
    pub(crate) fn ordinal(&self, entry: Entry) -> u32 {
        self.links
            .get(entry.0 as usize)
            .map_or(u32::MAX, |link| link.ordinal)
    }

    /// The takes from an entry on.
    pub(crate) fn from(&self, entry: Option<Entry>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(entry, |entry| self.next(*entry)).map(|entry| self.ordinal(entry))
    }
}

/// Takes a number that is a hash for the hash that it is.
#[derive(Default)]
pub(crate) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        let mut chains = Chains::default();
        for (key, ordinal) in [(7, 0), (8, 1), (7, 2), (7, 3)] {
            chains.push(key, ordinal);
        }
        assert_eq!(chains.from(chains.first(7)).collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(chains.from(chains.first(8)).collect::<Vec<_>>(), [1]);
        assert_eq!(chains.first(9), None);
    }
}
