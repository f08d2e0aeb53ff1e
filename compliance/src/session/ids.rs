//! The ids of requests: which are in flight, and which were ever used.

use std::collections::{HashMap, HashSet, VecDeque};

use super::asked::Asked;
use crate::id::Key;

/// The requests of one direction.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    window: Window,
    others: HashMap<Key, Asked>,
    // The keys of `others` by age; those that were taken out meanwhile linger for a while.
    ages: VecDeque<(Key, u64)>,
    // Requests whose id was in flight already, in order.
    doubled: Vec<(Key, Asked)>,
    used: Used,
    forgotten: bool,
    /// A request was cancelled while it was in flight.
    pub(crate) any_cancelled: bool,
}

/// How many requests are followed in flight.
const IN_FLIGHT: usize = 65_536;
/// How many keys without a request may linger.
const LINGER: usize = 1_024;
/// How many of those may share an id with another one.
const DOUBLED: usize = 1_024;

impl Requests {
    /// The first request of this id that awaits its response.
    pub(crate) fn find(&self, key: Key) -> Option<&Asked> {
        if let Key::Integer(id) = key
            && let Some(asked) = self.window.find(id)
        {
            return Some(asked);
        }
        self.others.get(&key)
    }

    pub(crate) fn find_mut(&mut self, key: Key) -> Option<&mut Asked> {
        if let Key::Integer(id) = key
            && let Some(slot @ Some(_)) = self.window.slot(id)
        {
            return slot.as_mut();
        }
        self.others.get_mut(&key)
    }

    /// Takes the first request of this id out of flight.
    pub(crate) fn take(&mut self, key: Key) -> Option<Asked> {
        let taken = match key {
            Key::Integer(id) => self.window.take(id).or_else(|| self.others.remove(&key)),
            _ => self.others.remove(&key),
        }?;
        if !self.doubled.is_empty()
            && let Some(next) = self.doubled.iter().position(|(other, _)| *other == key)
        {
            let (_, next) = self.doubled.remove(next);
            self.put(key, next);
        }
        Some(taken)
    }

    /// Puts a request in flight.
    pub(crate) fn insert(&mut self, key: Key, asked: Asked) {
        self.used.insert(key);
        if self.find(key).is_some() {
            if self.doubled.len() < DOUBLED {
                self.doubled.push((key, asked));
            } else {
                self.forgotten = true;
            }
            return;
        }
        self.put(key, asked);
    }

    fn put(&mut self, key: Key, asked: Asked) {
        let asked = match key {
            Key::Integer(id) => match self.window.put(id, asked) {
                Ok(()) => return,
                Err(asked) => asked,
            },
            _ => asked,
        };
        while self.others.len() >= IN_FLIGHT {
            let Some((oldest, seq)) = self.ages.pop_front() else {
                break;
            };
            if self.others.get(&oldest).is_some_and(|one| one.seq == seq) {
                self.others.remove(&oldest);
                self.forgotten = true;
            }
        }
        self.ages.push_back((key, asked.seq));
        self.others.insert(key, asked);
        if self.ages.len() > 2 * self.others.len() + LINGER {
            let others = &self.others;
            self.ages
                .retain(|(key, seq)| others.get(key).is_some_and(|one| one.seq == *seq));
        }
    }

    /// Whether a request with this id was seen before.
    pub(crate) fn knows(&self, key: Key) -> bool {
        self.used.contains(key)
    }

    /// Whether a request may be unknown although it was seen.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.forgotten || self.used.forgotten || self.window.forgotten
    }

    /// What is in flight, in the order of the requests.
    pub(crate) fn in_flight(&self) -> Vec<&Asked> {
        let window = self.window.slots.iter().flatten();
        let doubled = self.doubled.iter().map(|(_, asked)| asked);
        let mut all: Vec<&Asked> = window.chain(self.others.values()).chain(doubled).collect();
        all.sort_by_key(|asked| asked.seq);
        all
    }

    /// How many may be in flight at most.
    pub(crate) fn in_flight_count(&self) -> usize {
        self.window.slots.len() + self.others.len() + self.doubled.len()
    }

    /// Whether there ever was a request.
    pub(crate) fn has_any(&self) -> bool {
        !self.used.runs.is_empty() || !self.used.order.is_empty()
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.window.slots.is_empty() && self.others.is_empty()
    }
}

/// Requests with numbers that grow by one, as nearly all clients count: found without a
/// search.
#[derive(Debug, Default)]
struct Window {
    first: i64,
    slots: VecDeque<Option<Asked>>,
    forgotten: bool,
}

/// How many numbers the window spans.
const SPAN: usize = 4_096;
/// How many numbers may be left out at once.
const SKIP: usize = 16;

impl Window {
    fn index(&self, id: i64) -> Option<usize> {
        usize::try_from(id.checked_sub(self.first)?).ok()
    }

    fn find(&self, id: i64) -> Option<&Asked> {
        self.slots.get(self.index(id)?)?.as_ref()
    }

    fn slot(&mut self, id: i64) -> Option<&mut Option<Asked>> {
        let index = self.index(id)?;
        self.slots.get_mut(index)
    }

    fn take(&mut self, id: i64) -> Option<Asked> {
        let taken = self.slot(id)?.take()?;
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first = self.first.saturating_add(1);
        }
        Some(taken)
    }

    /// Gives the request back when its number is out of line.
    fn put(&mut self, id: i64, asked: Asked) -> Result<(), Asked> {
        if self.slots.is_empty() {
            self.first = id;
            self.slots.push_back(Some(asked));
            return Ok(());
        }
        let Some(index) = self.index(id) else {
            return Err(asked);
        };
        if index >= SPAN || index > self.slots.len() + SKIP {
            return Err(asked);
        }
        while self.slots.len() < index {
            self.slots.push_back(None);
        }
        match self.slots.get_mut(index) {
            Some(slot @ None) => *slot = Some(asked),
            Some(_) => return Err(asked),
            None => self.slots.push_back(Some(asked)),
        }
        Ok(())
    }
}

/// Every id that was ever used, in bounded memory: runs of numbers, and hashes.
#[derive(Debug, Default)]
struct Used {
    // Sorted, apart from each other: first and last number of each run.
    runs: Vec<(i64, i64)>,
    others: HashSet<Key>,
    order: VecDeque<Key>,
    forgotten: bool,
}

const RUNS: usize = 16_384;
const OTHERS: usize = 65_536;

impl Used {
    fn contains(&self, key: Key) -> bool {
        let Key::Integer(id) = key else {
            return self.others.contains(&key);
        };
        let after = self.runs.partition_point(|(first, _)| *first <= id);
        let run = after.checked_sub(1).and_then(|at| self.runs.get(at));
        run.is_some_and(|(_, last)| id <= *last)
    }

    fn insert(&mut self, key: Key) {
        if let Key::Integer(id) = key {
            return self.insert_number(id);
        }
        if !self.others.insert(key) {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > OTHERS
            && let Some(oldest) = self.order.pop_front()
        {
            self.others.remove(&oldest);
            self.forgotten = true;
        }
    }

    fn insert_number(&mut self, id: i64) {
        // The usual case: one more than the last.
        if let Some((_, last)) = self.runs.last_mut()
            && last.checked_add(1) == Some(id)
        {
            *last = id;
            return;
        }
        let after = self.runs.partition_point(|(first, _)| *first <= id);
        let before = after.checked_sub(1).and_then(|at| self.runs.get_mut(at));
        let mut joined = false;
        if let Some((_, last)) = before {
            if id <= *last {
                return;
            }
            if last.checked_add(1) == Some(id) {
                *last = id;
                joined = true;
            }
        }
        let follows = self.runs.get(after).map(|(first, _)| *first) == id.checked_add(1);
        match (joined, follows) {
            (true, true) => {
                let (_, last) = self.runs.remove(after);
                if let Some((_, before)) = after.checked_sub(1).and_then(|at| self.runs.get_mut(at))
                {
                    *before = last;
                }
            }
            (true, false) => {}
            (false, true) => {
                if let Some((first, _)) = self.runs.get_mut(after) {
                    *first = id;
                }
            }
            (false, false) if self.runs.len() < RUNS => self.runs.insert(after, (id, id)),
            // What was not entered cannot be told from what was never used.
            (false, false) => self.forgotten = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tapewright_schemas::event::{ConduitId, Offset};

    use super::*;
    use crate::method::Method;
    use crate::revision::Revisions;
    use crate::session::Moment;

    fn asked(seq: u64) -> Asked {
        let moment = Moment { seq, at: Offset(0) };
        Asked::new((moment, ConduitId(0)), Method::Ping, Revisions::ALL)
    }

    #[test]
    fn the_first_of_two_requests_with_one_id_is_answered_first() {
        let mut requests = Requests::default();
        let key = Key::Integer(1);
        requests.insert(key, asked(1));
        requests.insert(key, asked(2));
        assert_eq!(requests.take(key).unwrap().seq, 1);
        assert_eq!(requests.take(key).unwrap().seq, 2);
        assert!(requests.take(key).is_none());
        assert!(requests.knows(key));
    }

    #[test]
    fn memory_is_bounded_and_says_so() {
        let mut requests = Requests::default();
        for number in 0..200_000_u64 {
            requests.insert(Key::Text(number), asked(number));
        }
        assert!(requests.others.len() <= IN_FLIGHT);
        assert!(requests.used.others.len() <= OTHERS);
        assert!(requests.has_forgotten());
        let mut requests = Requests::default();
        for number in 0..200_000 {
            requests.insert(Key::Integer(number), asked(0));
            requests.take(Key::Integer(number));
        }
        assert_eq!(requests.used.runs, [(0, 199_999)]);
        assert!(!requests.has_forgotten());
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_model(steps in prop::collection::vec((-40_i64..40, any::<bool>()), 0..400)) {
            let mut requests = Requests::default();
            let mut flight: Vec<(i64, u64)> = Vec::new();
            let mut used = HashSet::new();
            for (seq, (id, asks)) in (0..).zip(steps) {
                let key = Key::Integer(id);
                prop_assert_eq!(requests.knows(key), used.contains(&id));
                if asks {
                    requests.insert(key, asked(seq));
                    flight.push((id, seq));
                    used.insert(id);
                } else {
                    let expected = flight.iter().position(|(other, _)| *other == id);
                    let expected = expected.map(|at| flight.remove(at).1);
                    prop_assert_eq!(requests.take(key).map(|asked| asked.seq), expected);
                }
                prop_assert_eq!(requests.in_flight().len(), flight.len());
                prop_assert_eq!(requests.is_idle(), flight.is_empty());
            }
        }
    }
}
