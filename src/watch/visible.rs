//! The visible lines: those that match a filter, found a few at a time.

use std::collections::{BTreeSet, VecDeque};

use tapewright_schemas::filter::{Filter, LineKind};

use super::line::Line;
use super::list::List;
use super::store::Store;

/// The visible lines.
#[derive(Debug)]
pub(crate) struct VisibleLines {
    /// Their numbers in a store.
    numbers: VecDeque<u64>,
    /// The first line that was not checked yet.
    next: u64,
    /// The cursor.
    pub(crate) list: List,
    /// The filter.
    pub(crate) filter: Filter,
    /// The only session to show, with its tape.
    pub(crate) only: Option<(u16, u32)>,
    /// The marked lines.
    marks: BTreeSet<u64>,
    /// Whether only those are shown.
    pub(crate) only_marked: bool,
    /// The kinds to show, if the filter has none.
    kinds: BTreeSet<LineKind>,
    /// If set, no lines from this one on are shown.
    pub(crate) paused: Option<u64>,
}

/// How many lines are checked in one go.
const AT_ONCE: u64 = 20_000;

impl VisibleLines {
    /// Lines of these kinds.
    pub(crate) fn of(kinds: impl IntoIterator<Item = LineKind>) -> Self {
        Self {
            numbers: VecDeque::new(),
            next: 0,
            list: List::following(),
            filter: Filter::default(),
            only: None,
            marks: BTreeSet::new(),
            only_marked: false,
            kinds: kinds.into_iter().collect(),
            paused: None,
        }
    }

    /// The number of visible lines.
    pub(crate) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The number of the line in a row.
    pub(crate) fn get(&self, row: usize) -> Option<u64> {
        self.numbers.get(row).copied()
    }

    /// The number of the selected line.
    pub(crate) fn chosen(&self) -> Option<u64> {
        self.get(self.list.cursor)
    }

    /// The row of a line, or of the next visible one.
    pub(crate) fn row_of(&self, number: u64) -> usize {
        self.numbers.partition_point(|one| *one < number)
    }

    /// Whether all kinds are shown.
    pub(crate) fn shows(&self, kind: LineKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Shows lines of other kinds.
    pub(crate) fn set_kinds(&mut self, kinds: impl IntoIterator<Item = LineKind>) {
        self.kinds = kinds.into_iter().collect();
        self.again();
    }

    /// Whether a line is marked.
    pub(crate) fn is_marked(&self, number: u64) -> bool {
        self.marks.contains(&number)
    }

    /// Marks a line, or removes its mark.
    pub(super) fn mark(&mut self, store: &Store, number: u64) {
        if !self.marks.remove(&number) {
            self.marks.insert(number);
        }
        self.changed(store, number);
    }

    /// Starts again after the conditions have changed.
    pub(crate) fn again(&mut self) {
        self.numbers.clear();
        self.next = 0;
        self.list = List {
            follows: self.list.follows,
            ..List::default()
        };
    }

    /// Checks further lines. Returns whether there are more.
    pub(crate) fn work(&mut self, store: &Store, seen: usize) -> bool {
        let known = store.numbers();
        self.forget(known.start);
        let last = self.paused.map_or(known.end, |at| at.min(known.end));
        self.next = self.next.max(known.start);
        let end = last.min(self.next.saturating_add(AT_ONCE));
        while self.next < end {
            let number = self.next;
            if self.wants(store, number) {
                self.numbers.push_back(number);
            }
            self.next += 1;
        }
        self.list.grown(self.numbers.len(), seen);
        self.next < last
    }

    /// Checks a line that has changed.
    pub(crate) fn changed(&mut self, store: &Store, number: u64) {
        if number >= self.next {
            return;
        }
        let row = self.row_of(number);
        let is_shown = self.numbers.get(row) == Some(&number);
        match (is_shown, self.wants(store, number)) {
            (false, true) => {
                self.numbers.insert(row, number);
                self.list.inserted(row);
            }
            (true, false) => {
                self.numbers.remove(row);
                self.list.removed(row, 1);
            }
            _ => {}
        }
    }

    fn forget(&mut self, first: u64) {
        let gone = self.row_of(first);
        if gone > 0 {
            self.numbers.drain(..gone);
            self.marks = self.marks.split_off(&first);
            self.list.removed(0, gone);
        }
    }

    fn wants(&self, store: &Store, number: u64) -> bool {
        let Some(line) = store.get(number).filter(|line| !line.is_gone()) else {
            return false;
        };
        let is_of_kind = match self.filter.kinds() {
            Some(_) => true,
            None => self.kinds.contains(&line.kind),
        };
        let is_here = |(part, session)| line.part == part && line.session == session;
        let is_chosen = !self.only_marked || self.marks.contains(&number);
        is_of_kind
            && is_chosen
            && self.only.is_none_or(is_here)
            && self.matches(store, line, number)
    }

    fn matches(&self, store: &Store, line: &Line, number: u64) -> bool {
        if self.filter.is_empty() {
            return true;
        }
        let model = store.model(number);
        self.filter.matches(&line.subject(&store.words, model))
    }
}
