//! Finds the tool calls that carried out models' tool uses, and writes their rows again when that
//! is known.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tapewright_models::links::PartLinks;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Change, Entry, Wanted};
use tapewright_schemas::tape::{Ending, Reader};

use super::growing::Growing;
use super::rows::RowWriter;

/// A tape to link with others.
#[derive(Debug)]
pub(super) struct LinkedTape {
    /// Its file.
    pub(super) path: PathBuf,
    /// Its name.
    pub(super) part: String,
    /// How many milliseconds after the first tape it started.
    pub(super) later_ms: f64,
    /// Whether it has ended.
    pub(super) is_over: bool,
}

/// The links written so far.
#[derive(Debug, Default)]
pub(super) struct Linked {
    // Hashes of rows, by hashes of their identity.
    told: HashMap<u64, u64>,
    // The number of events at the last search.
    events: u64,
}

/// The maximum total size of tapes to link, since all of them are read again.
const BYTES: u64 = 256 << 20;
/// The maximum number of known rows with links.
const ROWS: usize = 100_000;

impl Linked {
    /// Whether there are new events.
    pub(super) fn is_due(&self, events: u64) -> bool {
        events > self.events
    }

    /// Writes new rows with links; returns whether there were any.
    pub(super) fn tell(
        &mut self,
        tapes: &[LinkedTape],
        events: u64,
        to: RowWriter<'_>,
    ) -> io::Result<bool> {
        self.events = events;
        let size = |tape: &LinkedTape| std::fs::metadata(&tape.path).map_or(0, |file| file.len());
        if tapes.len() < 2 || tapes.iter().map(size).sum::<u64>() > BYTES {
            return Ok(false);
        }
        let paths: Vec<PathBuf> = tapes.iter().map(|tape| tape.path.clone()).collect();
        let mut is_new = false;
        for (tape, links) in tapes.iter().zip(to.words.links(&paths)) {
            for entry in linked(tape, links)? {
                let entry = entry.later_by(tape.later_ms);
                let text = to
                    .words
                    .row(&entry, Some(&*tape.part).filter(|part| !part.is_empty()));
                if self.is_new(&tape.part, &entry, &text) {
                    to.rows.push(&text)?;
                    is_new = true;
                }
            }
        }
        Ok(is_new)
    }

    fn is_new(&mut self, part: &str, entry: &Entry, text: &str) -> bool {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let which = match entry {
            Entry::Exchange { row, .. } => hasher.hash_one((part, row.request_seq, &row.id)),
            Entry::Model { row, .. } => hasher.hash_one((part, row.request_seq, &row.id)),
            Entry::Beside(_) => return false,
        };
        let hash = hasher.hash_one(text);
        let has_room = self.told.len() < ROWS || self.told.contains_key(&which);
        has_room && self.told.insert(which, hash) != Some(hash)
    }
}

/// The linked lines of a tape.
fn linked(tape: &LinkedTape, links: PartLinks) -> io::Result<Vec<Entry>> {
    let wanted = Wanted {
        kinds: [LineKind::Exchange, LineKind::Model].into(),
        timed: true,
        ..Wanted::default()
    };
    let mut listing = Listing::new(wanted, Prices::built_in(), links).followed();
    let mut growing = Growing::new(Arc::new(File::open(&tape.path)?), 0);
    growing.more()?;
    let mut reader = Reader::open(growing).map_err(io::Error::other)?;
    let mut found = Vec::new();
    while reader.input().more()? {
        match reader.next_event() {
            Ok(Some(event)) => {
                let message = reader.envelope(&event);
                listing.observe(&event, message.as_ref());
                take(&mut listing, &mut found);
            }
            Ok(None) if !matches!(reader.ending(), Some(Ending::Footer(_))) => reader.go_on(),
            // The reader of its rows reports errors.
            Ok(None) | Err(_) => break,
        }
    }
    if tape.is_over {
        listing.finish();
        take(&mut listing, &mut found);
    }
    Ok(found)
}

fn take(listing: &mut Listing, found: &mut Vec<Entry>) {
    while let Some(change) = listing.poll_change() {
        if let Change::Whole(_, entry) = change
            && is_linked(&entry)
        {
            found.push(entry);
        }
    }
}

fn is_linked(entry: &Entry) -> bool {
    match entry {
        Entry::Exchange { row, .. } => row.asked_by.is_some(),
        Entry::Model { row, .. } => !row.tool_uses.is_empty(),
        Entry::Beside(_) => false,
    }
}
