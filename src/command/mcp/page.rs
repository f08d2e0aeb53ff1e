//! The rows of one answer: those behind a place, as many as fit.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::cursor::RowPosition;

/// The most bytes of rows in one answer.
const BYTES: usize = 24 << 10;

/// A row as data and as a line.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) value: Value,
    pub(super) line: String,
}

/// Keeps the first rows behind a place, in whichever order they come.
#[derive(Debug)]
pub(super) struct Page {
    after: Option<RowPosition>,
    limit: usize,
    rows: BTreeMap<RowPosition, Row>,
    /// What was offered at the event that the last page ended with.
    seen: BTreeSet<u64>,
    /// Rows behind the place that did not fit.
    is_cut: bool,
}

/// What fits.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) values: Vec<Value>,
    pub(super) lines: Vec<String>,
    /// Where to go on; nothing when that was all.
    pub(super) next: Option<RowPosition>,
}

impl Page {
    /// So many rows behind a place, at most.
    pub(super) fn new(after: Option<RowPosition>, limit: usize) -> Self {
        Self {
            after,
            limit,
            rows: BTreeMap::new(),
            seen: BTreeSet::new(),
            is_cut: false,
        }
    }

    /// Offers a row, which is made when it has a place on the page.
    pub(super) fn offer(&mut self, place: RowPosition, row: impl FnOnce() -> Row) {
        self.offer_if(place, || Some(row()));
    }

    /// The same, where it may turn out that there is none.
    pub(super) fn offer_if(&mut self, mut place: RowPosition, row: impl FnOnce() -> Option<Row>) {
        if let Some(after) = self.after {
            // Of rows that cannot be told apart, as many are passed over as were seen.
            while after.0 == place.0 && !self.seen.insert(place.1) {
                place.1 += 1;
            }
            if place <= after {
                return;
            }
        }
        let full = self.rows.len() >= self.limit;
        let last = self.rows.last_key_value().map(|(last, _)| *last);
        if full && last.is_some_and(|last| place > last) {
            self.is_cut = true;
            return;
        }
        while self.rows.contains_key(&place) {
            place.1 += 1;
        }
        let Some(row) = row() else { return };
        self.rows.insert(place, row);
        if self.rows.len() > self.limit {
            self.rows.pop_last();
            self.is_cut = true;
        }
    }

    /// As many rows as an answer may hold; the first in any case.
    pub(super) fn finish(self) -> Rows {
        let (mut values, mut lines, mut last) = (Vec::new(), Vec::new(), None);
        let (mut bytes, mut is_cut) = (0, self.is_cut);
        for (place, row) in self.rows {
            bytes += size(&row.value) + row.line.len();
            if bytes > BYTES && last.is_some() {
                is_cut = true;
                break;
            }
            last = Some(place);
            values.push(row.value);
            lines.push(row.line);
        }
        Rows {
            values,
            lines,
            next: last.filter(|_| is_cut),
        }
    }
}

/// About how long a value is as text.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(all) => 2 + all.iter().map(|one| size(one) + 1).sum::<usize>(),
        Value::Object(all) => {
            let members = all.iter().map(|(name, one)| name.len() + 4 + size(one));
            2 + members.sum::<usize>()
        }
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(after: Option<RowPosition>, limit: usize, places: &[u64]) -> Rows {
        let mut page = Page::new(after, limit);
        for place in places {
            let row = || Row {
                value: Value::from(*place),
                line: String::new(),
            };
            page.offer(RowPosition(*place, 0), row);
        }
        page.finish()
    }

    #[test]
    fn pages_hold_every_row_once_in_order() {
        let places = [5, 1, 3, 3, 9, 2];
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let rows = page(after, 2, &places);
            seen.extend(rows.values);
            after = rows.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, [1, 2, 3, 3, 5, 9]);
    }

    #[test]
    fn a_row_that_is_too_long_stands_alone() {
        let mut page = Page::new(None, 10);
        for place in 0..3 {
            let row = || Row {
                value: Value::from("x".repeat(BYTES)),
                line: String::new(),
            };
            page.offer(RowPosition(place, 0), row);
        }
        let rows = page.finish();
        assert_eq!((rows.values.len(), rows.next), (1, Some(RowPosition(0, 0))));
    }
}
