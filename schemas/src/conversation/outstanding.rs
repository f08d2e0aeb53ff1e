//! The pending requests of a live peer, for code that forwards messages.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use super::IdKey;

/// Pending requests, by the ids of their answers.
///
/// This is for routing, in a bridge, a front or a replay that takes part in a conversation and must
/// know where an answer goes, or what to send in place of one that never comes: each id is pending
/// at most once. Judges and views of a conversation use a [`Conversation`](super::Conversation),
/// where peers may use ids as they please.
#[derive(Debug)]
pub struct Outstanding<T> {
    by_id: HashMap<IdKey, T, RandomState>,
    limit: usize,
}

impl<T> Outstanding<T> {
    /// Creates an empty set with this maximum size.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            by_id: HashMap::default(),
            limit,
        }
    }

    /// Adds a pending entry, unless there are too many already; returns whether it was added.
    pub fn enter(&mut self, id: impl Into<IdKey>, value: T) -> bool {
        let id = id.into();
        let fits = self.by_id.len() < self.limit || self.by_id.contains_key(&id);
        if fits {
            self.by_id.insert(id, value);
        }
        fits
    }

    /// Whether there is room for this many more.
    #[must_use]
    pub fn has_room_for(&self, more: usize) -> bool {
        self.by_id.len().saturating_add(more) <= self.limit
    }

    /// The pending entry with this id.
    #[must_use]
    pub fn get(&self, id: impl Into<IdKey>) -> Option<&T> {
        self.by_id.get(&id.into())
    }

    /// Whether an entry with this id is pending.
    #[must_use]
    pub fn contains(&self, id: impl Into<IdKey>) -> bool {
        self.by_id.contains_key(&id.into())
    }

    /// Removes the entry with this id: it is answered, or given up.
    pub fn take(&mut self, id: impl Into<IdKey>) -> Option<T> {
        self.by_id.remove(&id.into())
    }

    /// Removes all pending entries, in no particular order.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut self.by_id).into_values()
    }

    /// Removes all entries for which this is false.
    pub fn retain(&mut self, mut stays: impl FnMut(&mut T) -> bool) {
        self.by_id.retain(|_, value| stays(value));
    }

    /// All pending entries, in no particular order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.by_id.values()
    }

    /// The number of pending entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::RequestId;

    #[test]
    fn ids_of_another_type_or_spelling_are_other_ids() {
        let mut all = Outstanding::new(3);
        let ids = ["2", "\"2\"", "2.0"].map(|id| RequestId::of_source(id.as_bytes()));
        for (number, id) in ids.iter().enumerate() {
            assert!(all.enter(id, number));
        }
        for (number, id) in ids.iter().enumerate() {
            assert_eq!(all.take(id), Some(number));
            assert!(!all.contains(id));
        }
    }

    #[test]
    fn there_is_room_for_so_many_and_no_more() {
        let mut all = Outstanding::new(2);
        assert!(all.enter(IdKey::Integer(1), 'a') && all.enter(IdKey::Integer(2), 'b'));
        assert!(!all.enter(IdKey::Integer(3), 'c'));
        assert!(all.enter(IdKey::Integer(2), 'd'));
        assert!(!all.has_room_for(1) && all.has_room_for(0));
        all.retain(|value| *value == 'd');
        assert_eq!(all.take_all().collect::<Vec<_>>(), ['d']);
        assert!(all.is_empty());
    }
}
