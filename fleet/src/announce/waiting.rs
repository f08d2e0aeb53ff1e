//! The entries to announce: a bounded number of entries, and beyond that only their tapes, whose
//! entries are read from the store again.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use tokio::sync::Notify;

use crate::entry::Entry;
use crate::names::TapeName;

/// How many entries can wait.
const ENTRIES: usize = 256;
/// How many tapes can wait to be read again.
const TAPES: usize = 4_096;

/// The entries to announce. Adding one never blocks the shipper.
#[derive(Debug)]
pub struct Waiting {
    inner: RefCell<Inner>,
    bell: Notify,
}

#[derive(Debug)]
struct Inner {
    entries: VecDeque<(TapeName, Entry)>,
    behind: BTreeSet<TapeName>,
    /// Every tape of the gateway must be checked: an earlier shipper may have been stopped before
    /// it announced, or more tapes are waiting than fit.
    is_all: bool,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            inner: RefCell::new(Inner {
                entries: VecDeque::new(),
                behind: BTreeSet::new(),
                is_all: true,
            }),
            bell: Notify::new(),
        }
    }
}

impl Waiting {
    /// Adds an entry that was created.
    pub fn shipped(&self, tape: &TapeName, entry: &Entry) {
        let mut inner = self.inner.borrow_mut();
        if inner.entries.len() < ENTRIES && !inner.behind.contains(tape) {
            inner.entries.push_back((tape.clone(), entry.clone()));
        } else {
            inner.behind(tape);
        }
        drop(inner);
        self.bell.notify_one();
    }

    /// Adds a tape with entries of another shipper, which may have been stopped since.
    pub fn theirs(&self, tape: &TapeName) {
        self.inner.borrow_mut().behind(tape);
        self.bell.notify_one();
    }

    /// How many entries and tapes wait. `None` if all tapes must be checked.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let inner = self.inner.borrow();
        let count = inner.entries.len() + inner.behind.len();
        (!inner.is_all).then_some(count as u64)
    }

    pub(super) async fn rings(&self) {
        self.bell.notified().await;
    }

    /// The entry that has waited longest; it stays until [`done`](Self::done) is called.
    pub(super) fn next(&self) -> Option<(TapeName, Entry)> {
        self.inner.borrow().entries.front().cloned()
    }

    /// Removes the entry that has waited longest: it is announced, or its tape is behind.
    pub(super) fn done(&self, is_behind: bool) {
        let mut inner = self.inner.borrow_mut();
        if let Some((tape, _)) = inner.entries.pop_front()
            && is_behind
        {
            inner.behind(&tape);
        }
    }

    /// A tape whose entries must be read from the store.
    pub(super) fn behind(&self) -> Option<TapeName> {
        self.inner.borrow().behind.first().cloned()
    }

    /// Marks a tape as caught up: all its entries in the store are announced. Entries that wait are
    /// newer.
    pub(super) fn caught_up(&self, tape: &TapeName) {
        self.inner.borrow_mut().behind.remove(tape);
    }

    /// Whether every tape must be checked.
    pub(super) fn is_all(&self) -> bool {
        self.inner.borrow().is_all
    }

    /// Sets the tapes to check.
    pub(super) fn all(&self, tapes: impl Iterator<Item = TapeName>) {
        let mut inner = self.inner.borrow_mut();
        inner.is_all = false;
        inner.behind.extend(tapes);
    }
}

impl Inner {
    fn behind(&mut self, tape: &TapeName) {
        if self.behind.len() < TAPES {
            self.behind.insert(tape.clone());
        } else if !self.behind.contains(tape) {
            self.is_all = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tape(number: usize) -> TapeName {
        TapeName {
            gateway: "g".parse().unwrap(),
            id: format!("20261126T031500Z-{number:020x}").parse().unwrap(),
        }
    }

    /// The number of waiting entries is bounded, and no tape is lost, however long the server is
    /// unavailable.
    #[test]
    fn what_waits_is_bounded_and_complete() {
        let waiting = Waiting::default();
        assert_eq!(waiting.count(), None);
        waiting.all(std::iter::empty());
        for _ in 0..1_000 {
            waiting.shipped(&tape(1), &Entry::default());
        }
        assert_eq!(waiting.count(), Some(ENTRIES as u64 + 1));
        assert_eq!(waiting.behind(), Some(tape(1)));
        for number in 0..10_000 {
            waiting.shipped(&tape(number), &Entry::default());
        }
        assert_eq!(waiting.count(), None);
        let inner = waiting.inner.borrow();
        assert_eq!((inner.entries.len(), inner.behind.len()), (ENTRIES, TAPES));
    }
}
