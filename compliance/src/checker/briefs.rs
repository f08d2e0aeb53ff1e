//! Which rules need to examine messages that are plain in the same ways: computed once, since
//! nearly all messages are alike.

use super::dispatch::{Checks, Spoken};
use crate::plain::Plain;

/// The number of messages that each brief handled, by the number of the brief.
#[derive(Debug, Default)]
pub(crate) struct Followed(Vec<u64>);

impl Followed {
    /// Counts a message that this brief handled.
    #[inline]
    pub(super) fn count(&mut self, number: usize) {
        self.add(number, 1);
    }

    #[inline]
    fn add(&mut self, number: usize, times: u64) {
        if number >= self.0.len() {
            self.0.resize(number + 1, 0);
        }
        if let Some(count) = self.0.get_mut(number) {
            *count += times;
        }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn merge(&mut self, other: &Self) {
        for (number, times) in other.0.iter().enumerate() {
            self.add(number, *times);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of messages that this brief handled.
    pub(super) fn of(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or_default()
    }
}

/// The briefs so far, by the list of checks.
#[derive(Debug)]
pub(super) struct Briefs {
    lists: Vec<Vec<Brief>>,
    // The same for messages outside a batch, with the checks of the payload; only whether `asked` is empty matters.
    alone: Vec<Vec<Brief>>,
    count: usize,
    most: usize,
}

/// What to do with the checks of a list, for messages that are plain in the same ways and of the
/// same revisions and carriers.
#[derive(Debug)]
pub(super) struct Brief {
    of: Likeness,
    /// The index for counting its messages.
    pub(super) number: usize,
    /// The checks to run, by their index in the list.
    pub(super) asked: Box<[u16]>,
    // The rules that hold without a check, by their index in the table.
    held: Box<[u16]>,
}

/// What the messages of a brief have in common: the ways in which they are plain, as far as those
/// matter, and their revisions and carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Likeness {
    plain: Plain,
    spoken: Spoken,
}

/// The maximum number of briefs of one list.
const BRIEFS: usize = 4;

impl Briefs {
    /// Creates briefs for this many lists.
    pub(super) fn new(lists: usize) -> Self {
        Self {
            lists: (0..lists).map(|_| Vec::new()).collect(),
            alone: (0..lists).map(|_| Vec::new()).collect(),
            count: 0,
            most: BRIEFS,
        }
    }

    /// Creates no briefs, so that every check runs for every message.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self {
            lists: Vec::new(),
            alone: Vec::new(),
            count: 0,
            most: 0,
        }
    }

    /// The brief of a list; `None` if there are too many kinds of messages.
    pub(super) fn of(&mut self, list: &Checks, plain: Plain, spoken: Spoken) -> Option<&Brief> {
        let plain = plain & list.matters;
        let of = Likeness { plain, spoken };
        // Nearly all messages are like the first.
        let first = self.lists.get(list.number)?.first();
        if first.is_some_and(|first| first.of == of) {
            return self.lists.get(list.number)?.first();
        }
        let known = self.lists.get_mut(list.number)?;
        let place = match known.iter().position(|one| one.of == of) {
            Some(place) => place,
            None if known.len() < self.most => {
                known.push(Brief::new(list, of, self.count));
                self.count += 1;
                known.len() - 1
            }
            None => return None,
        };
        known.get(place)
    }

    /// The brief for a message outside a batch, if by it no rule is run: neither for its payload nor from the list.
    #[inline]
    pub(super) fn alone(
        &mut self,
        payload: &Checks,
        list: &Checks,
        plain: Plain,
        spoken: Spoken,
    ) -> Option<usize> {
        let of = Likeness { plain, spoken };
        let known = self.alone.get(list.number)?;
        match known.first() {
            Some(first) if first.of == of => first.asked.is_empty().then_some(first.number),
            _ => self.other_alone(payload, list, of),
        }
    }

    #[cold]
    fn other_alone(&mut self, payload: &Checks, list: &Checks, of: Likeness) -> Option<usize> {
        let known = self.alone.get(list.number)?;
        if let Some(brief) = known.iter().find(|one| one.of == of) {
            return brief.asked.is_empty().then_some(brief.number);
        }
        if known.len() >= self.most {
            return None;
        }
        let number = self.count;
        let mut brief = Brief::new(list, of, number);
        let before = Brief::new(payload, of, number);
        if brief.asked.is_empty() {
            brief.asked = before.asked;
        }
        brief.held = [before.held, brief.held].concat().into();
        let is_silent = brief.asked.is_empty();
        self.alone.get_mut(list.number)?.push(brief);
        self.count += 1;
        is_silent.then_some(number)
    }

    /// Calls `each` with every brief's number and the rules that hold by it.
    pub(super) fn each(&self, mut each: impl FnMut(usize, &[u16])) {
        let alone = self.alone.iter().flatten();
        for brief in self.lists.iter().flatten().chain(alone) {
            each(brief.number, &brief.held);
        }
    }
}

impl Brief {
    fn new(list: &Checks, of: Likeness, number: usize) -> Self {
        let (mut asked, mut held) = (Vec::new(), Vec::new());
        for (place, entry) in (0..).zip(&list.entries) {
            if !entry.spoken.covers(of.spoken) {
                continue;
            }
            if !of.plain.has(entry.spared) {
                asked.push(place);
            } else if entry.passes {
                held.extend(u16::try_from(entry.index));
            }
        }
        Self {
            of,
            number,
            asked: asked.into(),
            held: held.into(),
        }
    }
}
