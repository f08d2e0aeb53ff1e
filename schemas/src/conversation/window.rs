//! Numbers that grow by one.

use std::collections::VecDeque;

/// The places of requests whose ids are numbers that grow by one, as nearly all clients
/// count: found without a search.
#[derive(Debug, Default)]
pub(super) struct Window {
    first: i64,
    places: VecDeque<Option<u32>>,
}

/// The size of the window.
const SPAN: usize = 4_096;
/// The maximum gap between consecutive numbers.
const SKIP: usize = 16;

impl Window {
    #[inline]
    pub(super) fn get(&self, id: i64) -> Option<u32> {
        *self.places.get(self.index(id)?)?
    }

    /// Enters a place; false when its number is out of line.
    #[inline]
    pub(super) fn put(&mut self, id: i64, place: u32) -> bool {
        if self.places.is_empty() {
            self.first = id;
        }
        let Some(index) = self.index(id) else {
            return false;
        };
        if index >= SPAN || index > self.places.len() + SKIP {
            return false;
        }
        while self.places.len() <= index {
            self.places.push_back(None);
        }
        match self.places.get_mut(index) {
            Some(free @ None) => *free = Some(place),
            _ => return false,
        }
        true
    }

    /// Removes a number, and returns its place if it is in the window.
    #[inline]
    pub(super) fn take(&mut self, id: i64) -> Option<u32> {
        let index = self.index(id)?;
        let place = self.places.get_mut(index)?.take()?;
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.first = self.first.saturating_add(1);
        }
        Some(place)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.places.iter().flatten().copied()
    }

    #[inline]
    fn index(&self, id: i64) -> Option<usize> {
        usize::try_from(id.checked_sub(self.first)?).ok()
    }
}
