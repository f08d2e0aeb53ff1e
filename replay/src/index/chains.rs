//! Lists of takes under hashed keys, in recorded order, without an allocation for each.

/// Ordinals of takes by key.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    // By their keys, and of one key in the order of the recording.
    links: Vec<Link>,
}

/// A take under a key. A long recording has millions of these: the key is in halves, so that none
/// has room that it does not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    high: u32,
    low: u32,
    ordinal: u32,
}

impl Link {
    /// A take under a key.
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

/// One place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(usize);

impl Chains {
    /// The lists of takes under their keys, each in the order of the recording.
    pub(crate) fn of(mut links: Vec<Link>) -> Self {
        links.sort_unstable();
        Self { links }
    }

    /// The first entry under a key.
    pub(crate) fn first(&self, key: u64) -> Option<Entry> {
        let place = self.links.partition_point(|link| link.key() < key);
        self.entry(place, key)
    }

    /// The entry behind this one.
    pub(crate) fn next(&self, entry: Entry) -> Option<Entry> {
        let key = self.links.get(entry.0)?.key();
        self.entry(entry.0 + 1, key)
    }

    /// The entry at a place, if it is under this key.
    fn entry(&self, place: usize, key: u64) -> Option<Entry> {
        let link = self.links.get(place)?;
        (link.key() == key).then_some(Entry(place))
    }

    /// The take of an entry.
    pub(crate) fn ordinal(&self, entry: Entry) -> u32 {
        let link = self.links.get(entry.0);
        link.map_or(u32::MAX, |link| link.ordinal)
    }

    /// The takes from an entry on.
    pub(crate) fn from(&self, entry: Option<Entry>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(entry, |entry| self.next(*entry)).map(|entry| self.ordinal(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_order() {
        let high = 7 << 40 | 7;
        let pairs = [(7, 0), (high, 1), (8, 4), (7, 2), (7, 3), (u64::MAX, 5)];
        let links = pairs.map(|(key, ordinal)| Link::new(key, ordinal)).to_vec();
        let chains = Chains::of(links);
        assert_eq!(chains.from(chains.first(7)).collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(chains.from(chains.first(8)).collect::<Vec<_>>(), [4]);
        assert_eq!(chains.from(chains.first(high)).collect::<Vec<_>>(), [1]);
        let last = chains.first(u64::MAX);
        assert_eq!(chains.from(last).collect::<Vec<_>>(), [5]);
        assert_eq!((chains.first(9), chains.first(0)), (None, None));
    }
}
