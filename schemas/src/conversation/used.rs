//! The set of used ids.

use std::collections::{HashSet, VecDeque};

use foldhash::quality::RandomState;

use super::IdKey;
use crate::event::{Direction, Scope};

/// The integers that one side has used: sorted, disjoint, as the first and the last of each run.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<(i64, i64)>);

/// The maximum number of runs of one side, and of all sides together.
const RUNS: usize = 16_384;
const ALL_RUNS: usize = 65_536;

impl Runs {
    pub(super) fn contains(&self, id: i64) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= id);
        let run = after.checked_sub(1).and_then(|at| self.0.get(at));
        run.is_some_and(|(_, last)| id <= *last)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds a number if it is one more than the last, as nearly all are; returns whether it did.
    #[inline]
    pub(super) fn goes_on(&mut self, id: i64) -> bool {
        match self.0.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(id) => {
                *last = id;
                true
            }
            _ => false,
        }
    }

    /// Adds a number; `all` is the number of runs of all sides.
    pub(super) fn insert(&mut self, id: i64, all: usize) -> Used {
        if self.goes_on(id) {
            return Used::First;
        }
        let after = self.0.partition_point(|(first, _)| *first <= id);
        let joined = match after.checked_sub(1).and_then(|at| self.0.get_mut(at)) {
            Some((_, last)) if id <= *last => return Used::Again,
            Some((_, last)) if last.checked_add(1) == Some(id) => {
                *last = id;
                true
            }
            _ => false,
        };
        let next = self.0.get(after).map(|(first, _)| *first);
        let follows = next.is_some() && next == id.checked_add(1);
        match (joined, follows) {
            (true, true) => {
                let (_, last) = self.0.remove(after);
                if let Some((_, before)) = after.checked_sub(1).and_then(|at| self.0.get_mut(at)) {
                    *before = last;
                }
            }
            (true, false) => {}
            (false, true) => {
                if let Some((first, _)) = self.0.get_mut(after) {
                    *first = id;
                }
            }
            (false, false) if self.0.len() < RUNS && all < ALL_RUNS => {
                self.0.insert(after, (id, id));
            }
            // Ids that were not entered cannot be distinguished from unused ones.
            (false, false) => return Used::NoRoom,
        }
        Used::First
    }
}

/// The result of entering a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    /// It was not used before, as far as is known.
    First,
    /// It was used before.
    Again,
    /// It cannot be remembered.
    NoRoom,
}

/// The last ids of all scopes that are not integers.
#[derive(Debug, Default)]
pub(super) struct Others {
    known: HashSet<Whole, RandomState>,
    order: VecDeque<Whole>,
}

/// An id, with its scope and direction.
pub(super) type Whole = (Scope, Direction, IdKey);

const OTHERS: usize = 65_536;

impl Others {
    pub(super) fn contains(&self, whole: &Whole) -> bool {
        self.known.contains(whole)
    }

    /// Enters an id, and reports the id that is forgotten for it; returns whether it was used
    /// before.
    pub(super) fn insert(&mut self, whole: Whole, forgot: impl FnOnce(&Whole)) -> bool {
        if !self.known.insert(whole) {
            return true;
        }
        self.order.push_back(whole);
        if self.order.len() > OTHERS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
            forgot(&oldest);
        }
        false
    }
}
