//! The open sessions, without a clock.

use std::collections::HashMap;
use std::time::Duration;

/// The open sessions, by their secret ids.
#[derive(Debug)]
pub(crate) struct Table<T> {
    sessions: HashMap<String, Entry<T>>,
    // Places reserved for future sessions.
    taken: usize,
    most: usize,
}

#[derive(Debug)]
struct Entry<T> {
    value: T,
    used: Duration,
}

impl<T: Clone> Table<T> {
    /// A table with room for `most` sessions.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            sessions: HashMap::new(),
            taken: 0,
            most,
        }
    }

    /// Whether there is no place for another session.
    pub(crate) fn is_full(&self) -> bool {
        self.sessions.len() + self.taken >= self.most
    }

    /// Reserves a place for a session whose server is about to be started. Returns false if there
    /// is none.
    pub(crate) fn take(&mut self) -> bool {
        let free = !self.is_full();
        self.taken += usize::from(free);
        free
    }

    /// Returns a reserved place: the session is in the table, or will never be.
    pub(crate) fn give_back(&mut self) {
        self.taken = self.taken.saturating_sub(1);
    }

    /// Adds a session.
    pub(crate) fn insert(&mut self, name: String, value: T, now: Duration) {
        self.sessions.insert(name, Entry { value, used: now });
    }

    /// The session with an id; marks it as used at `now`.
    pub(crate) fn get(&mut self, name: &str, now: Duration) -> Option<T> {
        let entry = self.sessions.get_mut(name)?;
        entry.used = now;
        Some(entry.value.clone())
    }

    /// Removes a session.
    pub(crate) fn remove(&mut self, name: &str) -> Option<T> {
        self.sessions.remove(name).map(|entry| entry.value)
    }

    /// Removes and returns the sessions that were not used for `idle`. Busy ones count as used.
    pub(crate) fn expire(
        &mut self,
        now: Duration,
        idle: Duration,
        is_busy: impl Fn(&T) -> bool,
    ) -> Vec<T> {
        let mut expired = Vec::new();
        self.sessions.retain(|_, entry| {
            if is_busy(&entry.value) {
                entry.used = now;
            }
            let keep = now.saturating_sub(entry.used) < idle;
            if !keep {
                expired.push(entry.value.clone());
            }
            keep
        });
        expired
    }

    /// All sessions.
    pub(crate) fn all(&self) -> Vec<T> {
        let values = self.sessions.values();
        values.map(|entry| entry.value.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_used_or_busy_stays() {
        let mut table = Table::new(3);
        for (name, value) in [("a", 1), ("b", 2), ("busy", 3)] {
            assert!(!table.is_full());
            table.insert(name.to_owned(), value, at(0));
        }
        assert!(table.is_full());
        assert_eq!(table.get("a", at(5)), Some(1));
        let busy = |value: &i32| *value == 3;
        assert_eq!(table.expire(at(9), at(10), busy), Vec::<i32>::new());
        assert_eq!(table.expire(at(10), at(10), busy), [2]);
        assert_eq!(table.get("b", at(10)), None);
        assert_eq!(table.expire(at(19), at(10), |_| false), [1]);
        assert_eq!(
            table.expire(at(20), at(10), |_| false),
            [3],
            "it was busy at 10"
        );
        assert!(table.all().is_empty());
    }

    #[test]
    fn a_place_is_taken_before_there_is_a_session() {
        let mut table = Table::new(2);
        table.insert("a".to_owned(), 1, at(0));
        assert!(table.take());
        assert!(table.is_full() && !table.take());
        table.insert("b".to_owned(), 2, at(0));
        table.give_back();
        assert!(table.is_full());
        table.remove("a");
        assert!(table.take());
        table.give_back();
        assert!(!table.is_full());
    }

    #[test]
    fn a_session_is_taken_out_once() {
        let mut table = Table::new(1);
        table.insert("a".to_owned(), 1, at(0));
        assert_eq!(table.remove("a"), Some(1));
        assert_eq!(table.remove("a"), None);
    }
}
