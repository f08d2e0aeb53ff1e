//! Lines in the order in which they began, as far as waiting allows it.

use std::collections::{BTreeMap, VecDeque};

use super::Entry;
use crate::conversation::ExchangeRow;

/// The position of a line: its event, and its index in a batch.
pub(super) type Key = (u64, u32);

/// Puts lines in order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Lines by their places; `None` for an exchange that is not over.
    waiting: BTreeMap<Key, Option<Entry>>,
    ready: VecDeque<Entry>,
    /// The pending changes, if nothing waits.
    changes: Option<VecDeque<Change>>,
}

/// A change to the lines of a listing that is followed as it grows.
#[derive(Clone, Debug)]
pub enum Change {
    /// An exchange, or with `None` a model call, began and is not over; an exchange is reported
    /// again when more is known of it.
    Open(LinePosition, Option<Box<ExchangeRow>>),
    /// A line is complete: one that began, or another.
    Whole(LinePosition, Entry),
    /// Something that began is not a line after all.
    Gone(LinePosition),
}

/// The position of a line: the number of its event, and its index among the lines of that event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinePosition(pub u64, pub u32);

/// The maximum number of lines that wait for an exchange that is not over.
const WINDOW: usize = 1_000;

impl Order {
    /// Lines do not wait for each other.
    pub(super) fn of_changes() -> Self {
        Self {
            changes: Some(VecDeque::new()),
            ..Self::default()
        }
    }

    /// Whether changes are reported as they happen.
    pub(super) fn tells_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// A pending exchange begins here; its row is available if changes are reported, but a model
    /// call has none.
    pub(super) fn opens(&mut self, key: Key, row: Option<Box<ExchangeRow>>) {
        if let Some(changes) = &mut self.changes {
            changes.push_back(Change::Open(place(key), row));
        } else {
            self.waiting.insert(key, None);
        }
    }

    /// A line is whole.
    pub(super) fn add(&mut self, key: Key, entry: Entry) {
        if let Some(changes) = &mut self.changes {
            changes.push_back(Change::Whole(place(key), entry));
        } else {
            self.waiting.insert(key, Some(entry));
        }
    }

    /// An exchange is not shown.
    pub(super) fn forget(&mut self, key: Key) {
        if let Some(changes) = &mut self.changes {
            changes.push_back(Change::Gone(place(key)));
        } else {
            self.waiting.remove(&key);
        }
    }

    /// Yields lines that need not wait; with `no_room`, all complete ones.
    pub(super) fn settle(&mut self, no_room: bool) {
        while let Some(first) = self.waiting.first_entry() {
            if first.get().is_none() && !no_room && self.waiting.len() <= WINDOW {
                return;
            }
            if let Some((_, Some(entry))) = self.waiting.pop_first() {
                self.ready.push_back(entry);
            }
        }
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self) {
        let rest = std::mem::take(&mut self.waiting);
        self.ready.extend(rest.into_values().flatten());
    }

    pub(super) fn poll(&mut self) -> Option<Entry> {
        self.ready.pop_front()
    }

    pub(super) fn poll_change(&mut self) -> Option<Change> {
        self.changes.as_mut()?.pop_front()
    }
}

fn place((seq, line): Key) -> LinePosition {
    LinePosition(seq, line)
}
