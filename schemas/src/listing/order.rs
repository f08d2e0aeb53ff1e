//! Lines in the order in which they began, as far as that can be waited for.

use std::collections::{BTreeMap, VecDeque};

use super::Entry;

/// The place of a line: its event, and its place among those of a batch.
pub(super) type Key = (u64, u32);

/// Puts lines in order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Lines by their places; `None` for an exchange that is not over.
    waiting: BTreeMap<Key, Option<Entry>>,
    ready: VecDeque<Entry>,
}

/// How many lines wait for an exchange that is not over.
const WINDOW: usize = 1_000;

impl Order {
    /// An exchange begins here.
    pub(super) fn opens(&mut self, key: Key) {
        self.waiting.insert(key, None);
    }

    /// A line is whole.
    pub(super) fn add(&mut self, key: Key, entry: Entry) {
        self.waiting.insert(key, Some(entry));
    }

    /// An exchange is not wanted.
    pub(super) fn forget(&mut self, key: Key) {
        self.waiting.remove(&key);
    }

    /// Hands on what need not wait; where there is `no_room`, everything that is whole.
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
}
