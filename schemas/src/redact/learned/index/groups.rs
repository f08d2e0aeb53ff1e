//! Which texts contain which groups of four bytes: a hash table whose lists are chains in a vector.

use std::hash::BuildHasher as _;

use foldhash::quality::RandomState;

use super::{MOST_ALIKE, SHORTEST, STEP, group};
use crate::slices::Part as _;

#[derive(Debug)]
pub(super) struct Groups {
    // A bit for each group, by its hash. Empty before the first text, as is `buckets`.
    filter: Vec<u64>,
    // The first group with each hash, from 1 on; 0 for none.
    buckets: Vec<u32>,
    known: Vec<Group>,
    spots: Vec<Chained>,
    // An odd number. No peer knows it, so that none can send many groups with the same hash.
    multiplier: u32,
}

#[derive(Debug)]
struct Group {
    bytes: u32,
    // The next one in its bucket, from 1 on.
    next: u32,
    // Its spots, in the order of filing.
    first: u32,
    last: u32,
    count: u32,
}

/// The position of a group in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) text: usize,
    pub(super) offset: usize,
}

/// A spot, and the next one of its group, from 1 on.
#[derive(Debug)]
struct Chained {
    spot: Spot,
    next: u32,
}

impl Default for Groups {
    fn default() -> Self {
        let random = RandomState::default().hash_one(0);
        Self {
            filter: Vec::new(),
            buckets: Vec::new(),
            known: Vec::new(),
            spots: Vec::new(),
            multiplier: high(random) | 1,
        }
    }
}

impl Groups {
    /// Files a text under [`STEP`] of its groups, unless it is too short or too similar to many
    /// others.
    pub(super) fn file(&mut self, bytes: &[u8], text: usize) {
        let Some(start) = self.rarest(bytes) else {
            return;
        };
        if self.filter.is_empty() {
            self.filter = vec![0; 1 << (FILTER_BITS - 6)];
            self.buckets = vec![0; 1 << BUCKET_BITS];
        }
        for offset in start..start + STEP {
            if let Some(group) = group(bytes.part(offset..)) {
                self.add(group, Spot { text, offset });
            }
        }
    }

    /// Removes all texts.
    pub(super) fn clear(&mut self) {
        self.filter.fill(0);
        self.buckets.fill(0);
        self.known.clear();
        self.spots.clear();
    }

    /// Whether a text may be filed under a group. Never a false negative.
    #[inline]
    pub(super) fn may_know(&self, group: u32) -> bool {
        let (word, bit) = place(self.hash(group));
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    /// The spots of a group, in the order of filing.
    pub(super) fn spots(&self, group: u32) -> impl Iterator<Item = Spot> {
        let first = self.find(group).map(|group| group.first);
        let chained = |at: u32| self.spots.get((at as usize).checked_sub(1)?);
        let first = first.and_then(chained);
        let all = std::iter::successors(first, move |spot| chained(spot.next));
        all.map(|chained| chained.spot)
    }

    /// The largest number of texts that are filed under one group.
    #[cfg(test)]
    pub(super) fn largest(&self) -> u32 {
        let counts = self.known.iter().map(|group| group.count);
        counts.max().unwrap_or_default()
    }

    fn add(&mut self, group: u32, spot: Spot) {
        let hash = self.hash(group);
        let (word, bit) = place(hash);
        if let Some(word) = self.filter.get_mut(word) {
            *word |= bit;
        }
        self.spots.push(Chained { spot, next: 0 });
        let here = narrow(self.spots.len());
        if let Some(known) = self.place_of(group) {
            let known = self.known.get_mut(known);
            let last = known.map(|known| {
                known.count += 1;
                std::mem::replace(&mut known.last, here)
            });
            let last = last.and_then(|last| (last as usize).checked_sub(1));
            if let Some(last) = last.and_then(|last| self.spots.get_mut(last)) {
                last.next = here;
            }
            return;
        }
        let new = narrow(self.known.len() + 1);
        let bucket = self.buckets.get_mut(bucket(hash));
        self.known.push(Group {
            bytes: group,
            next: bucket.map_or(0, |first| std::mem::replace(first, new)),
            first: here,
            last: here,
            count: 1,
        });
    }

    fn find(&self, group: u32) -> Option<&Group> {
        self.known.get(self.place_of(group)?)
    }

    fn place_of(&self, group: u32) -> Option<usize> {
        let mut next = *self.buckets.get(bucket(self.hash(group)))?;
        loop {
            let at = (next as usize).checked_sub(1)?;
            let known = self.known.get(at)?;
            if known.bytes == group {
                return Some(at);
            }
            next = known.next;
        }
    }

    /// The offset at which the groups of a text begin under which few others are filed: the first
    /// such groups, or else the rarest.
    fn rarest(&self, bytes: &[u8]) -> Option<usize> {
        let last = bytes.len().checked_sub(SHORTEST)?;
        let mut run = 0;
        for at in 0..last + STEP {
            let is_rare = self.crowd(bytes, at) < FEW;
            run = if is_rare { run + 1 } else { 0 };
            if run == STEP {
                return Some(at + 1 - STEP);
            }
        }
        let crowds: Vec<u32> = (0..last + STEP).map(|at| self.crowd(bytes, at)).collect();
        let most = |window: &[u32]| window.iter().copied().max().unwrap_or_default();
        let windows = crowds.windows(STEP).map(most).enumerate();
        let (start, crowd) = windows.min_by_key(|(_, crowd)| *crowd)?;
        (crowd < MOST_ALIKE).then_some(start)
    }

    /// The number of texts that are filed under the group at a place of a text.
    fn crowd(&self, bytes: &[u8], at: usize) -> u32 {
        let group = group(bytes.part(at..)).filter(|group| self.may_know(*group));
        let known = group.and_then(|group| self.find(group));
        known.map_or(0, |known| known.count)
    }

    #[inline]
    fn hash(&self, group: u32) -> u32 {
        group.wrapping_mul(self.multiplier)
    }
}

/// The word and the bit of a hash in the filter.
#[inline]
fn place(hash: u32) -> (usize, u64) {
    let hash = hash >> (32 - FILTER_BITS);
    ((hash >> 6) as usize, 1 << (hash & 63))
}

fn bucket(hash: u32) -> usize {
    (hash >> (32 - BUCKET_BITS)) as usize
}

/// Narrows a place in a list, which is never that long: see `MOST_BYTES`.
fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The upper half of a number.
fn high(number: u64) -> u32 {
    (number >> 32) as u32
}

/// A search compares so few texts without delay. The forms of one value are often that similar.
const FEW: u32 = 8;

/// 16 KiB, which fits into the processor's cache.
const FILTER_BITS: u32 = 17;

/// Some twenty thousand groups are known at a time.
const BUCKET_BITS: u32 = 14;
