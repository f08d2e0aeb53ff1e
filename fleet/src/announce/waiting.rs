//! What is to be announced: a bounded number of entries, and beyond that the tapes whose entries the store tells.

use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};

use tokio::sync::Notify;

use crate::entry::Entry;
use crate::names::TapeName;

/// How many entries wait.
const ENTRIES: usize = 256;
/// How many tapes wait whose entries are read again.
const TAPES: usize = 4_096;

/// What waits to be announced. Whoever ships puts it here and never waits.
#[derive(Debug)]
pub struct Waiting {
    inner: RefCell<Inner>,
    bell: Notify,
}

#[derive(Debug)]
struct Inner {
    entries: VecDeque<(TapeName, Entry)>,
    behind: BTreeSet<TapeName>,
    /// Every tape of the gateway has to be looked at: a shipper before this one may have been stopped before it announced, and of more
    /// tapes than fit nothing else is known.
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
    /// An entry was created.
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

    /// There are entries of a tape that another shipper created, which may have been stopped since.
    pub fn theirs(&self, tape: &TapeName) {
        self.inner.borrow_mut().behind(tape);
        self.bell.notify_one();
    }

    /// How many entries wait, and how many tapes beside them. All of them, where that has to be found out.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let inner = self.inner.borrow();
        let count = inner.entries.len() + inner.behind.len();
        (!inner.is_all).then_some(count as u64)
    }

    pub(super) async fn rings(&self) {
        self.bell.notified().await;
    }

    /// The entry that waits longest; it stays until it is [`done`](Self::done).
    pub(super) fn next(&self) -> Option<(TapeName, Entry)> {
        self.inner.borrow().entries.front().cloned()
    }

    /// The entry that waited longest is announced, or its tape is behind.
    pub(super) fn done(&self, is_behind: bool) {
        let mut inner = self.inner.borrow_mut();
        if let Some((tape, _)) = inner.entries.pop_front()
            && is_behind
        {
            inner.behind(&tape);
        }
    }

    /// A tape whose entries are to be read from the store.
    pub(super) fn behind(&self) -> Option<TapeName> {
        self.inner.borrow().behind.first().cloned()
    }

    /// All entries of a tape that the store has are announced. Those that wait are of what came meanwhile.
    pub(super) fn caught_up(&self, tape: &TapeName) {
        self.inner.borrow_mut().behind.remove(tape);
    }

    /// Whether every tape has to be looked at.
    pub(super) fn is_all(&self) -> bool {
        self.inner.borrow().is_all
    }

    /// These are all.
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

    /// However long the server is away: a bounded number waits, and no tape is forgotten.
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
