//! Receives the announcements of all recorders.

mod follow;
mod wanted;

use std::collections::{HashSet, VecDeque};

use serde::Serialize;

pub use self::follow::{Next, Tail};
pub use self::wanted::Wanted;
use crate::announce::Announcement;

/// How many announcements are remembered to detect repeated ones.
const REMEMBERED: usize = 32_768;

/// The counts of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Announcements that were new.
    pub new: u64,
    /// Messages that were delivered again.
    pub redelivered: u64,
    /// Announcements that were published twice.
    pub repeated: u64,
    /// Messages that are not announcements.
    pub foreign: u64,
    /// Messages that the stream had dropped before they were read.
    pub missed: u64,
}

/// The kind of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A new announcement.
    New(Box<Announcement>),
    /// A message that was delivered before.
    Redelivered,
    /// Another message with a known announcement.
    Repeated,
    /// Not an announcement.
    Foreign,
}

/// Distinguishes new messages from repeated ones.
#[derive(Debug, Default)]
pub struct Hearing {
    /// The number of the last message; `None` until the stream's position is known.
    last: Option<u64>,
    ids: HashSet<String>,
    order: VecDeque<String>,
    /// The counts so far.
    pub counts: Counts,
}

impl Hearing {
    /// The number of the last message.
    #[must_use]
    pub fn last(&self) -> Option<u64> {
        self.last
    }

    /// Starts after the message with this number.
    pub fn begin(&mut self, last: u64) {
        self.last = Some(last);
    }

    /// Takes a message with its number in the stream. Returns how many are missing before it, and
    /// its kind.
    pub fn hear(&mut self, seq: u64, payload: &[u8]) -> (u64, Heard) {
        if self.last.is_some_and(|last| seq <= last) {
            self.counts.redelivered += 1;
            return (0, Heard::Redelivered);
        }
        let missed = self.last.map_or(0, |last| seq - last - 1);
        self.counts.missed += missed;
        self.last = Some(seq);
        let Some(announcement) = Announcement::read(payload) else {
            self.counts.foreign += 1;
            return (missed, Heard::Foreign);
        };
        if !self.remember(announcement.id()) {
            self.counts.repeated += 1;
            return (missed, Heard::Repeated);
        }
        self.counts.new += 1;
        (missed, Heard::New(Box::new(announcement)))
    }

    fn remember(&mut self, id: String) -> bool {
        if !self.ids.insert(id.clone()) {
            return false;
        }
        self.order.push_back(id);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;
    use crate::names::TapeName;

    fn payload(start: u64) -> Vec<u8> {
        let tape = TapeName {
            gateway: "g".parse().unwrap(),
            id: "20261126T031500Z-0123456789abcdef0123".parse().unwrap(),
        };
        let entry = Entry {
            start,
            end: start + 5,
            ..Entry::default()
        };
        Announcement::of(&tape, &entry).write()
    }

    #[test]
    fn what_comes_again_is_told_apart() {
        let mut hearing = Hearing::default();
        let is_new = |heard: &(u64, Heard)| matches!(heard, (0, Heard::New(_)));
        assert!(is_new(&hearing.hear(7, &payload(0))));
        assert_eq!(hearing.hear(7, &payload(0)), (0, Heard::Redelivered));
        assert_eq!(hearing.hear(8, &payload(0)), (0, Heard::Repeated));
        assert_eq!(hearing.hear(9, b"hello"), (0, Heard::Foreign));
        let (missed, heard) = hearing.hear(13, &payload(5));
        assert!(matches!(heard, Heard::New(_)));
        assert_eq!(missed, 3);
        let counts = Counts {
            new: 2,
            redelivered: 1,
            repeated: 1,
            foreign: 1,
            missed: 3,
        };
        assert_eq!((hearing.counts, hearing.last()), (counts, Some(13)));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut hearing = Hearing::default();
        hearing.begin(0);
        for number in 0..REMEMBERED as u64 + 10 {
            let (_, heard) = hearing.hear(number + 1, &payload(number * 5));
            assert!(matches!(heard, Heard::New(_)));
        }
        assert_eq!(
            (hearing.ids.len(), hearing.order.len()),
            (REMEMBERED, REMEMBERED)
        );
    }
}
