//! Values for exchanges, of which the oldest may be dropped.

use std::collections::VecDeque;

use super::{Handle, PerExchange};

/// A [`PerExchange`] that can find its oldest exchange, for code that stores so much for each
/// exchange that it must limit them more than a [`Conversation`](super::Conversation) does.
#[derive(Debug)]
pub struct OldestFirst<T> {
    noted: PerExchange<T>,
    // By age, with some stale entries.
    ages: VecDeque<Handle>,
}

/// How many stale entries may linger, in addition to as many as there are live ones.
const LINGER: usize = 64;

impl<T> Default for OldestFirst<T> {
    fn default() -> Self {
        Self {
            noted: PerExchange::default(),
            ages: VecDeque::new(),
        }
    }
}

impl<T> OldestFirst<T> {
    /// Sets the value of the youngest exchange; returns the earlier value in its place.
    pub fn insert(&mut self, handle: Handle, value: T) -> Option<T> {
        // Most requests are answered in about their order.
        while let Some(oldest) = self.ages.front()
            && self.noted.get(*oldest).is_none()
        {
            self.ages.pop_front();
        }
        let before = self.noted.insert(handle, value);
        self.ages.push_back(handle);
        if self.ages.len() > 2 * self.noted.len() + LINGER {
            let noted = &self.noted;
            self.ages.retain(|one| noted.get(*one).is_some());
        }
        before
    }

    /// The value of an exchange.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        self.noted.get(handle)
    }

    /// The value of an exchange.
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        self.noted.get_mut(handle)
    }

    /// Removes the value of an exchange.
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        self.noted.remove(handle)
    }

    /// Removes the value of the oldest exchange.
    pub fn pop_oldest(&mut self) -> Option<T> {
        while let Some(oldest) = self.ages.pop_front() {
            if let Some(value) = self.noted.remove(oldest) {
                return Some(value);
            }
        }
        None
    }

    /// All that is noted, the oldest first.
    pub fn into_values(mut self) -> impl Iterator<Item = T> {
        std::iter::from_fn(move || self.pop_oldest())
    }

    /// The values, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        let all = self.ages.iter();
        all.filter_map(|handle| Some((*handle, self.noted.get(*handle)?)))
    }

    /// The number of exchanges with a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.noted.len()
    }

    /// Whether no exchange has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Pairing;
    use crate::event::{Direction, Scope};

    #[test]
    fn the_oldest_that_is_still_noted_goes_first() {
        let (mut pairing, mut all) = (Pairing::default(), OldestFirst::default());
        let mut handles = Vec::new();
        for number in 0..1_000_u64 {
            let id = crate::conversation::IdKey::Text(number);
            let asked = pairing.ask(Scope::default(), Direction::ToServer, id, ());
            assert!(all.insert(asked.handle, number).is_none());
            handles.push(asked.handle);
            if number % 10 != 0 {
                assert_eq!(all.remove(asked.handle), Some(number));
            }
        }
        assert_eq!(all.len(), 100);
        assert!(all.ages.len() <= 2 * all.len() + LINGER);
        assert_eq!(all.remove(handles[0]), Some(0));
        assert_eq!(all.iter().next(), Some((handles[10], &10)));
        assert_eq!(all.pop_oldest(), Some(10));
        assert!(all.get(handles[10]).is_none());
        let rest: Vec<_> = all.into_values().collect();
        assert_eq!(rest, (2..100).map(|one| one * 10).collect::<Vec<_>>());
    }
}
