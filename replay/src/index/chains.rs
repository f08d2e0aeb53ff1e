//! Lists of takes under hashed keys, in recorded order, without an allocation for each.

/// Ordinals of takes by key.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    // The keys in order, and where the list of each begins.
    starts: Vec<(u64, u32)>,
    // The lists, one behind the other.
    ordinals: Vec<u32>,
}

/// Marks the last ordinal of a list.
const LAST: u32 = 1 << 31;

/// One place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(u32);

impl Chains {
    /// The lists of takes under their keys, each in the order of the recording.
    pub(crate) fn of(mut pairs: Vec<(u64, u32)>) -> Self {
        pairs.sort_unstable();
        let mut ordinals: Vec<u32> = Vec::with_capacity(pairs.len());
        let mut starts: Vec<(u64, u32)> = Vec::new();
        for (key, ordinal) in pairs {
            if starts.last().is_none_or(|(last, _)| *last != key) {
                if let Some(last) = ordinals.last_mut() {
                    *last |= LAST;
                }
                let Ok(start) = u32::try_from(ordinals.len()) else {
                    break;
                };
                starts.push((key, start));
            }
            ordinals.push(ordinal & !LAST);
        }
        if let Some(last) = ordinals.last_mut() {
            *last |= LAST;
        }
        starts.shrink_to_fit();
        Self { starts, ordinals }
    }

    /// The first entry under a key.
    pub(crate) fn first(&self, key: u64) -> Option<Entry> {
        let place = self
            .starts
            .binary_search_by_key(&key, |(key, _)| *key)
            .ok()?;
        self.starts.get(place).map(|(_, start)| Entry(*start))
    }

    /// The entry behind this one.
    pub(crate) fn next(&self, entry: Entry) -> Option<Entry> {
        let ordinal = self.ordinals.get(entry.0 as usize)?;
        (ordinal & LAST == 0).then_some(Entry(entry.0 + 1))
    }

    /// The take of an entry.
    pub(crate) fn ordinal(&self, entry: Entry) -> u32 {
        let ordinal = self.ordinals.get(entry.0 as usize);
        ordinal.map_or(u32::MAX, |ordinal| ordinal & !LAST)
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
        let chains = Chains::of(vec![(7, 0), (8, 1), (7, 2), (7, 3)]);
        assert_eq!(chains.from(chains.first(7)).collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(chains.from(chains.first(8)).collect::<Vec<_>>(), [1]);
        assert_eq!(chains.first(9), None);
    }
}
