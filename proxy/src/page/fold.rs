//! The rows of one tape, and the state of its sessions.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use serde_json::Value;
use tapewright_models::links::PartLinks;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::conversation::Outcome;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, Offset};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Body, Change, Counts, Entry, Wanted};

use super::rows::RowWriter;
use crate::clock::Clock;
use crate::control::View;

/// The rows of one tape, and the state of its sessions.
#[derive(Debug)]
pub(super) struct Fold {
    part: Option<String>,
    later_ms: f64,
    listing: Listing,
    view: Arc<View>,
    // The reported outcomes of open exchanges, by number and id.
    open: HashMap<(u64, String), Outcome>,
    last: Offset,
}

/// The maximum number of reported open exchanges.
const OPEN: usize = 1_000;

impl Fold {
    /// The fold of a tape; `part` is its name if there are several.
    pub(super) fn new(part: Option<String>, timed: bool, long: Option<Offset>) -> Self {
        let wanted = Wanted {
            kinds: LineKind::ALL.into(),
            timed,
            ..Wanted::default()
        };
        Self {
            part,
            later_ms: 0.0,
            listing: Listing::new(wanted, Prices::built_in(), PartLinks::default()).followed(),
            view: View::new(Clock::start(), long),
            open: HashMap::new(),
            last: Offset::default(),
        }
    }

    /// Sets how many milliseconds after the first tape it started.
    pub(super) fn later_by(&mut self, ms: f64) {
        self.later_ms = ms;
    }

    /// How many milliseconds after the first tape it started.
    pub(super) fn later_ms(&self) -> f64 {
        self.later_ms
    }

    /// Handles the next event.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        to: RowWriter<'_>,
    ) -> io::Result<()> {
        self.last = self.last.max(event.at);
        self.listing.observe(event, message);
        self.view.follow(event, message);
        self.hand_on(to)
    }

    /// Ends the tape.
    pub(super) fn finish(&mut self, to: RowWriter<'_>) -> io::Result<()> {
        self.listing.finish();
        self.hand_on(to)
    }

    /// Writes rows for open exchanges that have changed.
    pub(super) fn tell_open(&mut self, to: RowWriter<'_>) -> io::Result<()> {
        let mut open = HashMap::new();
        let mut fresh = Vec::new();
        for row in self.listing.open().take(OPEN) {
            let (key, outcome) = ((row.request_seq, row.id.clone()), row.outcome);
            if self.open.get(&key) != Some(&outcome) {
                fresh.push(Entry::Exchange {
                    row: Box::new(row),
                    request: Body::Unwanted,
                    answer: Body::Unwanted,
                });
            }
            open.insert(key, outcome);
        }
        self.open = open;
        fresh.into_iter().try_for_each(|entry| self.tell(entry, to))
    }

    /// A listing for exchanges further on, without the events before.
    pub(super) fn peek() -> Listing {
        let wanted = Wanted {
            kinds: [LineKind::Exchange].into(),
            timed: true,
            ..Wanted::default()
        };
        Listing::new(wanted, Prices::default(), PartLinks::default()).followed()
    }

    /// Writes the rows found there: answered exchanges.
    pub(super) fn tell_peeked(&self, mut found: Listing, to: RowWriter<'_>) -> io::Result<()> {
        while let Some(change) = found.poll_change() {
            if let Change::Whole(_, entry) = change
                && matches!(&entry, Entry::Exchange { row, .. } if row.outcome == Outcome::Answered)
            {
                self.tell(entry, to)?;
            }
        }
        Ok(())
    }

    fn hand_on(&mut self, to: RowWriter<'_>) -> io::Result<()> {
        while let Some(change) = self.listing.poll_change() {
            // An open exchange is written when there is nothing more to read.
            if let Change::Whole(_, entry) = change {
                self.tell(entry, to)?;
            }
        }
        Ok(())
    }

    fn tell(&self, entry: Entry, to: RowWriter<'_>) -> io::Result<()> {
        let entry = entry.later_by(self.later_ms);
        to.rows.push(&to.words.row(&entry, self.part.as_deref()))
    }

    /// The counts so far.
    pub(super) fn counts(&self) -> Counts {
        self.listing.counts()
    }

    /// The time of the last event.
    pub(super) fn last(&self) -> Offset {
        self.last
    }

    /// The state of its sessions: the lists of the control API.
    pub(super) fn lists(&self, now: Offset) -> [(&'static str, Vec<Value>); 3] {
        self.view.tick(now);
        let list = |name: &'static str, mut told: Value| {
            let list = told.get_mut(name).map(Value::take);
            let mut list = match list {
                Some(Value::Array(list)) => list,
                _ => Vec::new(),
            };
            for members in list.iter_mut().filter_map(Value::as_object_mut) {
                if let Some(part) = &self.part {
                    members.insert("part".to_owned(), part.as_str().into());
                }
            }
            (name, list)
        };
        [
            list("sessions", self.view.sessions_at(now)),
            list("pending", self.view.pending_at(now)),
            list("hangs", self.view.hangs_at(now)),
        ]
    }
}
