//! The entries of one tape in order: what the store has, and what is missing.

use crate::entry::{Ended, Entry, Total};
use crate::names::{EntryName, TapeName};
use crate::store::{Problem, Store, StoreError};

/// The entries of one tape, from its first byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Entries whose ranges follow each other.
    pub entries: Vec<Entry>,
    /// What is wrong after them, if anything.
    pub missing: Option<Missing>,
}

/// Why a tape is not complete in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An entry begins after the end of the one before it: bytes are missing in between.
    Range {
        /// The end of the range before it.
        from: u64,
        /// Where the next entry begins.
        to: u64,
    },
    /// An entry begins within the range of another.
    Overlap {
        /// Where it begins.
        at: u64,
    },
    /// An entry cannot be read.
    Entry {
        /// Where it begins.
        at: u64,
        /// The reason.
        why: String,
    },
    /// There are entries after the end of the tape.
    BehindEnd {
        /// Where it ended.
        end: u64,
    },
}

impl Missing {
    /// The text for users.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Range { from, to } => format!("bytes {from} to {to} are missing"),
            Self::Overlap { at } => format!("the entry at {at} overlaps the one before it"),
            Self::Entry { at, why } => format!("the entry at {at} cannot be used: {why}"),
            Self::BehindEnd { end } => format!("there are entries behind its end at {end}"),
        }
    }
}

impl Chain {
    /// Orders entries by their offsets.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = Result<Entry, Missing>>) -> Self {
        let mut chain = Self::default();
        for entry in entries {
            if let Err(missing) = entry.and_then(|entry| chain.push(entry)) {
                chain.missing = Some(missing);
                break;
            }
        }
        chain
    }

    fn push(&mut self, entry: Entry) -> Result<(), Missing> {
        let end = self.end();
        if let Some(last) = self.entries.last()
            && last.ended.is_some()
        {
            return Err(Missing::BehindEnd { end });
        }
        // A swept tape only has its last entry left.
        let is_left = entry.swept.is_some() && self.entries.is_empty();
        match entry.start {
            start if start == end || is_left => self.entries.push(entry),
            start if start > end => {
                return Err(Missing::Range {
                    from: end,
                    to: start,
                });
            }
            at => return Err(Missing::Overlap { at }),
        }
        Ok(())
    }

    /// The end of the tape's range in the store.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.entries.last().map_or(0, |last| last.end)
    }

    /// The totals in its last entry; zero without entries.
    #[must_use]
    pub fn total(&self) -> Option<Total> {
        match self.entries.last() {
            Some(last) => last.total,
            None => Some(Total::default()),
        }
    }

    /// How the tape ended, if it did.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        self.entries.last().and_then(|last| last.ended)
    }

    /// When the tape was swept, if it was.
    #[must_use]
    pub fn swept(&self) -> Option<&str> {
        self.entries.last().and_then(|last| last.swept.as_deref())
    }

    /// Reads the entries of a tape; `None` where there are none.
    pub async fn read(store: &Store, tape: &TapeName) -> Result<Option<Self>, StoreError> {
        let names = store.entries(tape).await?;
        if names.is_empty() {
            return Ok(None);
        }
        Self::of_names(store, &names).await.map(Some)
    }

    /// Only its last entry, if that has the totals and no entry is missing. The contents of the
    /// others are not checked.
    pub async fn last_of(store: &Store, names: &[EntryName]) -> Result<Option<Self>, StoreError> {
        // After an entry was superseded, the totals in later ones are outdated.
        let is_plain = names.iter().all(|name| name.version == 0);
        let Some(last) = names.last().filter(|_| is_plain) else {
            return Ok(None);
        };
        let Ok(entry) = entry(store, last).await? else {
            return Ok(None);
        };
        let is_all = entry
            .total
            .is_some_and(|total| total.entries == names.len() as u64);
        Ok((is_all || entry.swept.is_some()).then(|| Self {
            entries: vec![entry],
            missing: None,
        }))
    }

    /// Reads entries that were listed.
    pub async fn of_names(store: &Store, names: &[EntryName]) -> Result<Self, StoreError> {
        // Of a tape that is being swept, only the last entry counts.
        if let Some(last) = names.last()
            && let Ok(entry) = entry(store, last).await?
            && entry.swept.is_some()
        {
            return Ok(Self::of([Ok(entry)]));
        }
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            entries.push(entry(store, name).await?);
        }
        Ok(Self::of(entries))
    }
}

/// An entry, or why it cannot be used.
async fn entry(store: &Store, name: &EntryName) -> Result<Result<Entry, Missing>, StoreError> {
    match store.entry(name).await {
        Ok(entry) => Ok(Ok(entry)),
        Err(error) if matches!(error.problem, Problem::Bad | Problem::Missing) => {
            Ok(Err(Missing::Entry {
                at: name.start,
                why: error.to_string(),
            }))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::How;

    #[expect(clippy::unnecessary_wraps, reason = "as entries are read")]
    fn entry(start: u64, end: u64) -> Result<Entry, Missing> {
        Ok(Entry {
            start,
            end,
            ..Entry::default()
        })
    }

    fn last(start: u64, end: u64) -> Entry {
        let ended = Ended {
            how: How::Footer,
            torn_bytes: 0,
            lost_bytes: 0,
            lost_events: 0,
        };
        Entry {
            start,
            end,
            ended: Some(ended),
            ..Entry::default()
        }
    }

    #[test]
    fn ranges_follow_each_other() {
        let chain = Chain::of([entry(0, 5), entry(5, 9), Ok(last(9, 9))]);
        assert_eq!((chain.end(), &chain.missing), (9, &None));
        assert_eq!(chain.ended().map(|ended| ended.how), Some(How::Footer));
    }

    #[test]
    fn what_is_missing_is_said() {
        let missing = |entries: Vec<Result<Entry, Missing>>| {
            let chain = Chain::of(entries);
            (chain.end(), chain.missing)
        };
        let gap = Missing::Range { from: 5, to: 6 };
        assert_eq!(missing(vec![entry(0, 5), entry(6, 9)]), (5, Some(gap)));
        let first = Missing::Range { from: 0, to: 3 };
        assert_eq!(missing(vec![entry(3, 5)]), (0, Some(first)));
        let overlap = Missing::Overlap { at: 4 };
        assert_eq!(missing(vec![entry(0, 5), entry(4, 9)]), (5, Some(overlap)));
        let behind = Missing::BehindEnd { end: 5 };
        assert_eq!(
            missing(vec![Ok(last(0, 5)), entry(5, 9)]),
            (5, Some(behind))
        );
    }

    #[test]
    fn what_is_left_of_a_swept_tape_is_enough() {
        let mut left = last(9, 12);
        left.swept = Some("2026-11-26T03:15:00Z".to_owned());
        let chain = Chain::of([Ok(left)]);
        assert_eq!((chain.end(), chain.missing.is_none()), (12, true));
        assert!(chain.swept().is_some());
    }
}
