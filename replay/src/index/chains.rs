//! Lists of takes under hashed keys, in recorded order, without an allocation per list.

use std::collections::BTreeMap;

/// Ordinals of takes by key. Most recordings repeat the same requests: a take costs only its
/// ordinal, and each key is stored once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Chains {
    // Sorted keys, and where the list of each ends.
    keys: Vec<u64>,
    ends: Vec<u32>,
    // The lists, each in the order of the recording.
    ordinals: Vec<u32>,
}

/// A take under a key. A long recording has millions of them: the key is split into halves to avoid
/// padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    high: u32,
    low: u32,
    ordinal: u32,
}

impl Link {
    /// Creates a link for a take under a key.
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a number")]
    pub(crate) fn new(key: u64, ordinal: u32) -> Self {
        Self {
            high: (key >> 32) as u32,
            low: key as u32,
            ordinal,
        }
    }

    fn key(&self) -> u64 {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

/// Sorts the links of one part of a recording by key, stably: links of one key stay in recorded
/// order.
pub(crate) fn in_order(mut links: Vec<Link>) -> Vec<Link> {
    links.sort_by_key(Link::key);
    links
}

/// A place in a list, and where the list ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    at: u32,
    end: u32,
}

impl Entry {
    /// The entry after this one.
    pub(crate) fn next(self) -> Option<Self> {
        let at = self.at.saturating_add(1);
        (at < self.end).then_some(Self { at, ..self })
    }
}

impl Chains {
    /// Builds the lists from the links of consecutive parts of the recording, each
    /// [sorted](in_order).
    pub(crate) fn of(parts: Vec<Vec<Link>>) -> Self {
        let count = parts.iter().map(Vec::len).sum();
        let mut parts: Vec<_> = parts
            .into_iter()
            .map(|part| part.into_iter().peekable())
            .collect();
        let mut chains = Self {
            ordinals: Vec::with_capacity(count),
            ..Self::default()
        };
        loop {
            let keys = parts
                .iter_mut()
                .filter_map(|part| part.peek().map(Link::key));
            let Some(key) = keys.min() else { break };
            for part in &mut parts {
                while let Some(link) = part.next_if(|link| link.key() == key) {
                    chains.ordinals.push(link.ordinal);
                }
            }
            chains.end(key);
        }
        chains
    }

    /// Like `of`, for few keys: `tell` yields all links, and is called twice, so that no link is
    /// stored.
    pub(crate) fn of_few<I: Iterator<Item = (u64, u32)>>(tell: impl Fn() -> I) -> Self {
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        for (key, _) in tell() {
            *places.entry(key).or_default() += 1;
        }
        let mut chains = Self::default();
        let mut next = 0;
        for (key, place) in &mut places {
            next += std::mem::replace(place, next);
            chains.keys.push(*key);
            chains.ends.push(narrow(next));
        }
        chains.ordinals = vec![0; next];
        for (key, ordinal) in tell() {
            let place = places.get_mut(&key);
            if let Some(place) = place
                && let Some(free) = chains.ordinals.get_mut(*place)
            {
                *free = ordinal;
                *place += 1;
            }
        }
        chains
    }

    /// Ends the list of a key, which is greater than all before.
    fn end(&mut self, key: u64) {
        self.keys.push(key);
        self.ends.push(narrow(self.ordinals.len()));
    }

    /// The first entry under a key.
    pub(crate) fn first(&self, key: u64) -> Option<Entry> {
        let place = self.keys.binary_search(&key).ok()?;
        let before = place.checked_sub(1).and_then(|last| self.ends.get(last));
        Some(Entry {
            at: before.copied().unwrap_or_default(),
            end: *self.ends.get(place)?,
        })
    }

    /// The take of an entry.
    pub(crate) fn ordinal(&self, entry: Entry) -> u32 {
        let ordinal = self.ordinals.get(entry.at as usize);
        ordinal.copied().unwrap_or(u32::MAX)
    }

    /// The takes from an entry on.
    pub(crate) fn from(&self, entry: Option<Entry>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(entry, |entry| entry.next()).map(|entry| self.ordinal(entry))
    }
}

/// Narrows a place in a list. Ordinals are 32 bits, and a take has at most two keys.
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        let high = 7 << 40 | 7;
        let pairs = [(7, 0), (high, 1), (8, 4), (7, 2), (7, 3), (u64::MAX, 5)];
        let links = |from: usize, to: usize| {
            let part = pairs[from..to].iter();
            in_order(
                part.map(|(key, ordinal)| Link::new(*key, *ordinal))
                    .collect(),
            )
        };
        let together = [
            Chains::of(vec![links(0, 6)]),
            Chains::of(vec![links(0, 3), links(3, 3), links(3, 6)]),
            Chains::of((0..6).map(|at| links(at, at + 1)).collect()),
            Chains::of_few(|| pairs.into_iter()),
        ];
        for chains in together {
            assert_eq!(chains.from(chains.first(7)).collect::<Vec<_>>(), [0, 2, 3]);
            assert_eq!(chains.from(chains.first(8)).collect::<Vec<_>>(), [4]);
            assert_eq!(chains.from(chains.first(high)).collect::<Vec<_>>(), [1]);
            let last = chains.first(u64::MAX);
            assert_eq!(chains.from(last).collect::<Vec<_>>(), [5]);
            assert_eq!((chains.first(9), chains.first(0)), (None, None));
        }
        assert_eq!(Chains::of(Vec::new()).first(7), None);
    }
}
