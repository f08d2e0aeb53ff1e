//! A list with a cursor.
//!
//! The rule of focus: new rows at the end of a list move neither the cursor nor the visible rows,
//! unless the cursor is on the last row and the list follows. Moving up stops following, and going
//! to the end starts it again.

/// The position of the cursor, and the visible rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct List {
    /// The selected row.
    pub(crate) cursor: usize,
    /// The first visible row.
    pub(crate) top: usize,
    /// Whether it follows new rows.
    pub(crate) follows: bool,
}

/// A move of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// Up by the number of visible rows.
    PageUp,
    /// Down by the number of visible rows.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

impl List {
    /// A list that follows new rows.
    pub(crate) fn following() -> Self {
        Self {
            follows: true,
            ..Self::default()
        }
    }

    /// Moves the cursor in a list of `count` rows of which `seen` are visible.
    pub(crate) fn go(&mut self, by: Move, count: usize, seen: usize) {
        let last = count.saturating_sub(1);
        let page = seen.max(2) - 1;
        let before = self.cursor;
        self.cursor = match by {
            Move::Up => self.cursor.saturating_sub(1),
            Move::Down => self.cursor.saturating_add(1),
            Move::PageUp => self.cursor.saturating_sub(page),
            Move::PageDown => self.cursor.saturating_add(page),
            Move::First => 0,
            Move::Last => last,
        }
        .min(last);
        // Down from the last row means the end, which may move.
        let at_end = self.cursor == last;
        self.follows = match by {
            Move::Up | Move::PageUp | Move::First => self.follows && before == self.cursor,
            Move::Down | Move::PageDown => at_end,
            Move::Last => true,
        };
        self.show(count, seen);
    }

    /// Selects a row.
    pub(crate) fn choose(&mut self, row: usize, count: usize, seen: usize) {
        self.cursor = row.min(count.saturating_sub(1));
        self.follows = false;
        self.show(count, seen);
    }

    /// Updates the list for `count` rows, with new ones at its end.
    pub(crate) fn grown(&mut self, count: usize, seen: usize) {
        if self.follows {
            self.cursor = count.saturating_sub(1);
            self.show(count, seen);
        }
    }

    /// Updates the list for a row inserted at `at`.
    pub(crate) fn inserted(&mut self, at: usize) {
        if at <= self.cursor && !self.follows {
            self.cursor += 1;
            self.top += 1;
        }
    }

    /// Updates the list for `rows` rows removed from `at` on.
    pub(crate) fn removed(&mut self, at: usize, rows: usize) {
        let above = rows.min(self.cursor.saturating_sub(at));
        self.cursor -= above;
        self.top = self.top.saturating_sub(above);
    }

    /// Keeps the cursor among `count` rows, and visible.
    pub(crate) fn show(&mut self, count: usize, seen: usize) {
        self.cursor = self.cursor.min(count.saturating_sub(1));
        let seen = seen.max(1);
        if self.cursor < self.top {
            self.top = self.cursor;
        }
        if self.cursor >= self.top.saturating_add(seen) {
            self.top = self.cursor + 1 - seen;
        }
        self.top = self.top.min(count.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moves() -> impl Strategy<Value = Move> {
        prop_oneof![
            Just(Move::Up),
            Just(Move::Down),
            Just(Move::PageUp),
            Just(Move::PageDown),
            Just(Move::First),
            Just(Move::Last),
        ]
    }

    proptest! {
        #[test]
        fn what_comes_never_steals_the_focus(
            keys in proptest::collection::vec((moves(), 0_usize..50, 1_usize..30), 1..60),
        ) {
            let (mut list, mut count) = (List::following(), 0);
            for (by, more, seen) in keys {
                list.go(by, count, seen);
                let before = list;
                count += more;
                list.grown(count, seen);
                if before.follows {
                    prop_assert_eq!(list.cursor, count.saturating_sub(1));
                } else {
                    prop_assert_eq!(list, before);
                }
                prop_assert!(list.cursor < count.max(1));
                prop_assert!(list.top <= list.cursor && list.cursor < list.top + seen);
            }
        }

        #[test]
        fn what_comes_or_goes_above_moves_nothing_that_is_seen(
            count in 1_usize..100, row in 0_usize..100, at in 0_usize..100, seen in 1_usize..30,
        ) {
            let mut list = List::default();
            list.choose(row, count, seen);
            let before = list;
            list.inserted(at);
            prop_assert_eq!(list.cursor - list.top, before.cursor - before.top);
            list.removed(at, 1);
            prop_assert_eq!(list, before);
        }
    }

    #[test]
    fn whoever_goes_up_stops_following_and_whoever_goes_to_the_end_follows() {
        let mut list = List::following();
        list.grown(10, 5);
        assert_eq!((list.cursor, list.top), (9, 5));
        list.go(Move::Up, 10, 5);
        list.grown(20, 5);
        assert_eq!((list.cursor, list.follows), (8, false));
        list.go(Move::Last, 20, 5);
        list.grown(30, 5);
        assert_eq!((list.cursor, list.follows), (29, true));
        list.go(Move::First, 30, 5);
        assert_eq!((list.cursor, list.top, list.follows), (0, 0, false));
    }
}
