//! Reads messages from the recording again.

use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_models::links::PartLinks;
use tapewright_models::listing::Listing;
use tapewright_models::prices::Prices;
use tapewright_schemas::event::{Direction, Event, EventBody};
use tapewright_schemas::filter::LineKind;
use tapewright_schemas::listing::{Body, Change, Entry, Wanted};
use tapewright_schemas::slices::Front as _;
use tapewright_schemas::tape::{Header, Reader};

use super::Library;
use crate::report::watch::no_bodies;
use crate::watch::message_texts::SAID_BYTES;
use crate::watch::run::Input;
use crate::watch::{Line, MessageText, MessageTexts, SourceUpdate};

/// The messages of one recording, as far as they can be read again.
#[derive(Debug)]
pub(in crate::watch) enum Bodies {
    /// They are on a tape.
    Tape(Box<OnTape>),
    /// They are in memory.
    Events(Arc<Vec<Event>>),
    /// They cannot be read, for this reason.
    Nowhere(String),
}

/// The positions of events on a tape.
#[derive(Debug)]
pub(in crate::watch) struct OnTape {
    path: PathBuf,
    header: Header,
    places: Mutex<Places>,
}

/// The positions of every few events; those in between are found by reading.
#[derive(Debug, Default)]
struct Places {
    // Numbers of events, and the offsets of their lines.
    all: Vec<(u64, u64)>,
    count: usize,
}

/// How many events there are from one kept position to the next.
const STEP: usize = 64;
/// How many events are read to find messages.
const READ: usize = 200_000;
/// How many positions earlier a model call may have been opened.
const UP: usize = 4;

impl Places {
    fn note(&mut self, seq: u64, at: u64) {
        if self.count.is_multiple_of(STEP) {
            self.all.push((seq, at));
        }
        self.count += 1;
    }

    /// The offset to start reading from to find an event; `up` goes back further by that many
    /// positions.
    fn before(&self, seq: u64, up: usize) -> Option<u64> {
        let at = self.all.partition_point(|(one, _)| *one <= seq);
        let at = at.checked_sub(1)?.saturating_sub(up);
        self.all.get(at).map(|(_, at)| *at)
    }
}

impl OnTape {
    /// Notes the offset of an event's line.
    pub(super) fn note(&self, seq: u64, at: u64) {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.note(seq, at);
    }

    fn open(&self, seq: u64, up: usize) -> Result<Reader<BufReader<File>>, String> {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let at = places.before(seq, up).unwrap_or_default();
        drop(places);
        let mut file = File::open(&self.path).map_err(|error| error.to_string())?;
        file.seek(SeekFrom::Start(at))
            .map_err(|error| error.to_string())?;
        Ok(Reader::within(
            self.header.clone(),
            BufReader::new(file),
            at,
        ))
    }
}

impl Bodies {
    /// The messages on this tape.
    pub(super) fn tape(path: PathBuf, header: Header) -> Self {
        Self::Tape(Box::new(OnTape {
            path,
            header,
            places: Mutex::default(),
        }))
    }

    /// Passes on events from the one with this number, until `enough` returns true.
    fn from(
        &self,
        seq: u64,
        up: usize,
        mut enough: impl FnMut(&Event) -> bool,
    ) -> Result<(), String> {
        match self {
            Self::Nowhere(why) => return Err(why.clone()),
            Self::Events(events) => {
                let first = events.partition_point(|event| event.seq < seq);
                let first = first.saturating_sub(up * STEP);
                events.iter().skip(first).take(READ).any(enough);
            }
            Self::Tape(tape) => {
                let mut reader = tape.open(seq, up)?;
                for _ in 0..READ {
                    let event = reader.next_event().map_err(|error| error.to_string())?;
                    if event.is_none_or(|event| enough(&event)) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The messages of a line.
    fn said(&self, line: &Line) -> MessageTexts {
        let read = if line.kind == LineKind::Model {
            self.model(line)
        } else {
            self.messages(line)
        };
        match read {
            Ok(all) => MessageTexts { all, problem: None },
            Err(why) => MessageTexts::not(no_bodies(&why)),
        }
    }

    fn messages(&self, line: &Line) -> Result<Vec<MessageText>, String> {
        let is_exchange = line.kind == LineKind::Exchange;
        let answer = Some(line.other).filter(|seq| is_exchange && *seq > 0);
        let mut all = Vec::new();
        for seq in [Some(line.seq), answer].into_iter().flatten() {
            self.from(seq, 0, |event| {
                if event.seq == seq {
                    all.extend(spoken(event));
                }
                event.seq >= seq
            })?;
        }
        Ok(all)
    }

    /// A model call: a stream is combined into the complete response.
    fn model(&self, line: &Line) -> Result<Vec<MessageText>, String> {
        let wanted = Wanted {
            kinds: [LineKind::Model].into(),
            bodies: true,
            timed: true,
            ..Wanted::default()
        };
        let mut listing = Listing::new(wanted, Prices::built_in(), PartLinks::default()).followed();
        let mut all = Vec::new();
        self.from(line.seq, UP, |event| {
            listing.observe(event, None);
            while let Some(change) = listing.poll_change() {
                if let Change::Whole(
                    _,
                    Entry::Model {
                        row,
                        request,
                        answer,
                    },
                ) = change
                    && row.request_seq == line.seq
                {
                    let pair = [(request, false), (answer, true)];
                    all.extend(
                        pair.iter()
                            .filter_map(|(body, back)| body_of(line.seq, body, *back)),
                    );
                }
            }
            !all.is_empty()
        })?;
        Ok(all)
    }
}

fn body_of(seq: u64, body: &Body, to_client: bool) -> Option<MessageText> {
    Some(cut(seq, to_client, body.text()?))
}

fn cut(seq: u64, to_client: bool, text: &[u8]) -> MessageText {
    MessageText {
        seq,
        to_client,
        text: text.front(SAID_BYTES).to_vec(),
        bytes: text.len() as u64,
    }
}

fn spoken(event: &Event) -> Option<MessageText> {
    let text = match &event.body {
        EventBody::Message { payload, .. } => payload.kept(),
        EventBody::Stderr { line, .. } => line,
        _ => return None,
    };
    Some(cut(event.seq, event.dir == Direction::ToClient, text))
}

/// What to read: the number of a line, and the line.
pub(in crate::watch) type Reading = (u64, Line);

/// Reads messages, until no more are requested.
pub(in crate::watch) fn serve(
    asked: &Receiver<Reading>,
    send: &SyncSender<Input>,
    library: &Library,
) {
    for (number, line) in asked {
        let all = library.lock().unwrap_or_else(PoisonError::into_inner);
        let bodies = all.get(usize::from(line.part)).cloned();
        drop(all);
        let said = bodies.map_or_else(MessageTexts::default, |bodies| bodies.said(&line));
        if send
            .send(Input::Told(Box::new(SourceUpdate::Texts(number, said))))
            .is_err()
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_never_behind_what_is_looked_for() {
        let mut places = Places::default();
        assert_eq!(places.before(1, 0), None);
        // Events are numbered from 1, and a gap has no lines.
        let numbers: Vec<u64> = (1..500).chain(900..1_500).collect();
        for (at, seq) in (0..).zip(&numbers) {
            places.note(*seq, at * 10);
        }
        for seq in &numbers {
            let at = numbers.partition_point(|one| one < seq) as u64 * 10;
            let before = places.before(*seq, 0).unwrap();
            assert!(before <= at && at - before < STEP as u64 * 10);
            assert!(places.before(*seq, 1).unwrap() <= before);
        }
    }
}
