//! The messages of one exchange, read from its tape on request.

use std::collections::BTreeSet;
use std::io;

use serde_json::{Map, Value};
use tapewright_models::links::PartLinks;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, EventBody};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Body, Change, Entry, NoteContent, Wanted};
use tapewright_schemas::slices::{Front as _, Part as _};
use tapewright_schemas::tape::{Header, Reader};

use super::growing::Growing;
use super::tape::Places;

/// Identifies a row.
#[derive(Clone, Debug)]
pub(super) struct RowId {
    /// The number of its event.
    pub(super) seq: u64,
    /// Its kind of line.
    pub(super) kind: LineKind,
    /// Its id, if it has one: a batch has several.
    pub(super) id: Option<String>,
}

/// How far after the start of an exchange its end is searched, in events and in bytes.
const EVENTS: usize = 200_000;
const BYTES: u64 = 256 << 20;
/// The maximum length of a text, in bytes.
const TEXT_BYTES: usize = 8 << 20;

/// The messages of a row on a tape; `None` if none are there.
pub(super) fn on_tape(
    header: &Header,
    places: &Places,
    meant: &RowId,
) -> io::Result<Option<Value>> {
    let Some(place) = places.before(meant.seq) else {
        return Ok(None);
    };
    let growing = Growing::new(std::sync::Arc::clone(&places.file), place);
    let mut reader = Reader::within(header.clone(), growing, place);
    let mut search = Search::new(meant);
    for _ in 0..EVENTS {
        let is_far = reader.input().place().saturating_sub(place) > BYTES;
        if is_far || !reader.input().more()? {
            break;
        }
        let Some(event) = reader.next_event().map_err(io::Error::other)? else {
            break;
        };
        let message = reader.envelope(&event);
        if let Some(found) = search.take(&event, message.as_ref()) {
            return Ok(Some(found));
        }
    }
    Ok(search.finish())
}

/// The messages of a row in a document.
pub(super) fn in_events(events: &[Event], meant: &RowId) -> Option<Value> {
    let from = events.partition_point(|event| event.seq < meant.seq);
    let mut search = Search::new(meant);
    let rest = events.part(from..);
    let found = rest
        .iter()
        .take(EVENTS)
        .find_map(|event| search.take(event, None));
    found.or_else(|| search.finish())
}

/// Searches for a line among the events around its start.
struct Search<'m> {
    meant: &'m RowId,
    listing: Listing,
}

impl<'m> Search<'m> {
    fn new(meant: &'m RowId) -> Self {
        let wanted = Wanted {
            kinds: BTreeSet::from([meant.kind]),
            bodies: true,
            ..Wanted::default()
        };
        let listing = Listing::new(wanted, Prices::default(), PartLinks::default());
        Self {
            meant,
            listing: listing.followed(),
        }
    }

    fn take(&mut self, event: &Event, message: Option<&Envelope<'_>>) -> Option<Value> {
        // Of the earlier events, only those about the carrier matter.
        let is_message = matches!(event.body, EventBody::Message { .. });
        if event.seq < self.meant.seq && is_message {
            return None;
        }
        self.listing.observe(event, message);
        self.found()
    }

    fn finish(mut self) -> Option<Value> {
        self.listing.finish();
        self.found()
    }

    fn found(&mut self) -> Option<Value> {
        while let Some(change) = self.listing.poll_change() {
            if let Change::Whole(_, entry) = change
                && self.is_meant(&entry)
            {
                return Some(told(&entry));
            }
        }
        None
    }

    fn is_meant(&self, entry: &Entry) -> bool {
        let is = |seq: u64, id: Option<&str>| {
            let wanted = self.meant.id.as_deref();
            seq == self.meant.seq && (wanted.is_none() || wanted == id)
        };
        match entry {
            Entry::Exchange { row, .. } => is(row.request_seq, Some(&row.id)),
            Entry::Model { row, .. } => is(row.request_seq, row.id.as_deref()),
            Entry::Beside(note) => is(note.seq, note.id.as_deref()),
        }
    }
}

/// The messages of a line, with the same member names as in an exported page.
fn told(entry: &Entry) -> Value {
    let bodies = match entry {
        Entry::Exchange {
            request, answer, ..
        }
        | Entry::Model {
            request, answer, ..
        } => {
            vec![("request", request), ("answer", answer)]
        }
        Entry::Beside(note) => match &note.told {
            NoteContent::Message(body) => vec![("message", body)],
            _ => Vec::new(),
        },
    };
    let mut told = Map::new();
    let mut cut = Map::new();
    for (name, body) in bodies {
        let text = match body {
            Body::Unwanted => Value::Null,
            Body::NoRoom => {
                cut.insert(name.to_owned(), Value::Null);
                Value::Null
            }
            Body::Text(text) => {
                if text.len() > TEXT_BYTES {
                    cut.insert(name.to_owned(), text.len().into());
                }
                String::from_utf8_lossy(text.front(TEXT_BYTES)).into()
            }
        };
        told.insert(name.to_owned(), text);
    }
    // The length of texts that are incomplete, if known.
    if !cut.is_empty() {
        told.insert("cut".to_owned(), cut.into());
    }
    told.into()
}
