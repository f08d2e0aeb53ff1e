//! One displayed tape, and the positions of its events.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::event::{Event, Offset};
use tapewright_schemas::tape::{Ending, Header, Reader};

use super::fold::Fold;
use super::growing::Growing;
use super::linked::LinkedTape;
use super::rows::RowWriter;
use crate::system::files;

/// A tape that is read while a page is open.
#[derive(Debug)]
pub(super) struct Tape {
    /// Its header.
    pub(super) header: Header,
    /// Its file.
    pub(super) path: PathBuf,
    /// Its name if there are several; empty for the only one.
    pub(super) part: String,
    /// Its rows.
    pub(super) fold: Fold,
    /// The positions of its events.
    pub(super) places: Arc<Places>,
    /// How it ended, if it has.
    pub(super) ending: Option<Ending>,
    /// Why it cannot be read any further.
    pub(super) problem: Option<String>,
    reader: Reader<Growing>,
    file: Arc<File>,
    last_seq: u64,
    // Where reading was suspended: the last known event, and the length of the tape.
    newest: Option<(u64, u64)>,
}

/// How much of the end of a tape is read while it is behind, in bytes and in events.
const NEWEST_BYTES: u64 = 16 << 10;
const NEWEST_EVENTS: usize = 200;

/// The positions of events in a tape's file.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) file: Arc<File>,
    // The numbers of some events, and the positions of their lines.
    marks: Mutex<BTreeMap<u64, u64>>,
}

/// The interval between events with a known position.
const STRIDE: u64 = 64;

impl Places {
    pub(super) fn new(file: Arc<File>) -> Self {
        Self {
            file,
            marks: Mutex::default(),
        }
    }

    /// The position of a line at or before an event; `None` if there is none.
    pub(super) fn before(&self, seq: u64) -> Option<u64> {
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, place) = marks.range(..=seq).next_back()?;
        Some(*place)
    }

    fn mark(&self, seq: u64, place: u64) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let last = marks.range(..=seq).next_back();
        if last.is_none_or(|(last, _)| seq >= last + STRIDE) {
            marks.insert(seq, place);
        }
    }
}

impl Tape {
    /// Opens a tape; `None` while its header is incomplete, or if it is not a tape.
    pub(super) fn open(
        path: &Path,
        part: Option<String>,
        long: Option<Offset>,
    ) -> io::Result<Option<Self>> {
        let file = Arc::new(File::open(path)?);
        let mut growing = Growing::new(Arc::clone(&file), 0);
        if !growing.more()? {
            return Ok(None);
        }
        let Ok(reader) = Reader::open(growing) else {
            return Ok(None);
        };
        let header = reader.header().clone();
        Ok(Some(Self {
            header,
            path: path.to_owned(),
            part: part.clone().unwrap_or_default(),
            fold: Fold::new(part, true, long),
            places: Arc::new(Places::new(Arc::clone(&file))),
            ending: None,
            problem: None,
            reader,
            file,
            last_seq: 0,
            newest: None,
        }))
    }

    /// Reads up to this many available events; returns their number.
    pub(super) fn read_on(&mut self, most: usize, to: RowWriter<'_>) -> io::Result<usize> {
        for read in 0..most {
            if self.is_over() || !self.reader.input().more()? {
                return Ok(read);
            }
            let place = self.reader.input().place();
            match self.reader.next_event() {
                Ok(Some(event)) => {
                    self.last_seq = event.seq;
                    self.places.mark(event.seq, place);
                    let message = self.reader.envelope(&event);
                    self.fold.observe(&event, message.as_ref(), to)?;
                }
                Ok(None) => {
                    // Lines of a later minor version, or the footer.
                    if let Some(ending @ Ending::Footer(_)) = self.reader.ending() {
                        self.ending = Some(ending.clone());
                        self.fold.finish(to)?;
                    }
                    self.reader.go_on();
                    return Ok(read + 1);
                }
                Err(error) => {
                    self.problem = Some(error.to_string());
                    self.fold.finish(to)?;
                    return Ok(read + 1);
                }
            }
        }
        Ok(most)
    }

    /// Writes the newest exchanges of a tape whose reading is suspended; they are written again
    /// when the events before were read. Returns whether there are any.
    pub(super) fn tell_newest(&mut self, to: RowWriter<'_>) -> io::Result<bool> {
        let (here, length) = (self.reader.input().place(), self.file.metadata()?.len());
        let known = self.newest.map_or(0, |(_, length)| length);
        if self.is_over() || length <= here || length == known {
            return Ok(false);
        }
        let from = length.saturating_sub(NEWEST_BYTES);
        if from <= here {
            // That is read next.
            self.newest = Some((self.last_seq, length));
            return Ok(true);
        }
        let mut growing = Growing::new(Arc::clone(&self.file), from);
        let mut torn = Vec::new();
        if growing.more()? {
            growing.read_until(b'\n', &mut torn)?;
        }
        let place = growing.place();
        let mut reader = Reader::within(self.header.clone(), growing, place);
        let mut peek = Fold::peek();
        let mut last = self.newest.map_or(self.last_seq, |(seq, _)| seq);
        for _ in 0..NEWEST_EVENTS {
            // The main reader reports errors.
            let Ok(true) = reader.input().more() else {
                break;
            };
            let place = reader.input().place();
            let Ok(Some(event)) = reader.next_event() else {
                break;
            };
            last = last.max(event.seq);
            // A request for one message must not read everything that is left for later.
            self.places.mark(event.seq, place);
            let message = reader.envelope(&event);
            peek.observe(&event, message.as_ref());
        }
        self.newest = Some((last, length));
        self.fold.tell_peeked(peek, to)?;
        Ok(true)
    }

    /// How much of it is left for later: events, as far as known, and bytes.
    pub(super) fn behind(&self) -> (u64, u64) {
        self.newest.map_or((0, 0), |(seq, length)| {
            let place = self.reader.offset();
            (
                seq.saturating_sub(self.last_seq),
                length.saturating_sub(place),
            )
        })
    }

    /// Handles the current end of the tape: without a writer, it is final.
    pub(super) fn rest(&mut self, to: RowWriter<'_>) -> io::Result<()> {
        if self.is_over() {
            return Ok(());
        }
        self.newest = None;
        if self.is_written() || self.reader.input().more()? {
            return self.fold.tell_open(to);
        }
        self.ending = Some(Ending::CutShort {
            last_seq: self.last_seq,
            torn: self.reader.input().is_torn(),
        });
        self.fold.finish(to)
    }

    /// The number of events read.
    pub(super) fn events(&self) -> u64 {
        self.last_seq
    }

    /// The properties needed to link it.
    pub(super) fn to_link(&self) -> LinkedTape {
        LinkedTape {
            path: self.path.clone(),
            part: self.part.clone(),
            later_ms: self.fold.later_ms(),
            is_over: self.is_over(),
        }
    }

    /// Whether it was read to its end.
    pub(super) fn is_over(&self) -> bool {
        self.ending.is_some() || self.problem.is_some()
    }

    /// Its length, while it is still being written.
    pub(super) fn written_bytes(&self) -> Option<u64> {
        let is_written = !self.is_over() && self.is_written();
        is_written.then(|| self.file.metadata().map_or(0, |file| file.len()))
    }

    /// Whether it is still being written.
    fn is_written(&self) -> bool {
        files::is_written(&self.file, &self.path)
    }
}

/// A cassette or a capture, read whole.
#[derive(Debug)]
pub struct Document {
    /// Its header.
    pub header: Header,
    /// Its content as events.
    pub events: Vec<Event>,
    /// How it ends.
    pub ending: Ending,
    /// Whether the events have times.
    pub timed: bool,
}
