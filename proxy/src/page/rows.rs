//! Stores the rows found so far in files without names: viewers read them at their own pace, and
//! none are held in memory.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memchr;
use tokio::sync::watch;

use super::Words;
use crate::system::files;
use tapewright_schemas::slices::Part as _;

/// Creates files without names.
pub type MakeFile = Box<dyn Fn() -> io::Result<File> + Send + Sync>;

/// The maximum size of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The size of a file, in bytes.
    pub file_bytes: u64,
    /// The maximum number of files: the oldest is dropped for a new one.
    pub files: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            files: 16,
        }
    }
}

/// Rows, one JSON text each, numbered from 0.
pub(super) struct Rows {
    kept: Mutex<StoredRows>,
    make: MakeFile,
    room: Room,
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct StoredRows {
    files: VecDeque<Spool>,
    // The total number of rows, including unwritten ones.
    count: u64,
    // The unwritten rows, one line each.
    unwritten: Vec<u8>,
    unwritten_count: u64,
}

/// A file of rows.
struct Spool {
    file: Arc<File>,
    // The number of its first row, and of the one after its last.
    first: u64,
    end: u64,
    bytes: u64,
    // The positions of rows at regular intervals.
    marks: Vec<u64>,
}

/// The destination of rows, and how they are formatted.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowWriter<'r> {
    pub(super) rows: &'r Rows,
    pub(super) words: &'r dyn Words,
}

/// Consecutive rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    /// Their texts, separated by commas.
    pub(super) text: String,
    /// The number of the row after them.
    pub(super) next: u64,
    /// How many rows before them were dropped.
    pub(super) missed: u64,
}

/// The interval between rows with a known position.
const STRIDE: u64 = 32;
/// The size at which rows are written, in bytes.
const WRITE_BYTES: usize = 256 << 10;

impl fmt::Debug for Rows {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Rows").finish_non_exhaustive()
    }
}

impl Rows {
    pub(super) fn new(make: MakeFile, room: Room) -> Self {
        Self {
            kept: Mutex::default(),
            make,
            room,
            told: watch::Sender::new(0),
        }
    }

    /// Adds a row, which becomes readable with the next [`flush`](Self::flush).
    pub(super) fn push(&self, row: &str) -> io::Result<()> {
        let mut kept = self.lock();
        // One line each: serde writes no line feeds.
        kept.unwritten.extend_from_slice(row.as_bytes());
        kept.unwritten.push(b'\n');
        kept.unwritten_count += 1;
        kept.count += 1;
        if kept.unwritten.len() >= WRITE_BYTES {
            kept.write(&self.make, self.room)?;
        }
        Ok(())
    }

    /// Makes added rows readable, and notifies readers.
    pub(super) fn flush(&self) -> io::Result<()> {
        let mut kept = self.lock();
        let written = kept.write(&self.make, self.room);
        let count = kept.count;
        drop(kept);
        self.told
            .send_if_modified(|told| std::mem::replace(told, count) != count);
        written
    }

    /// Notifies of the number of rows whenever it changes.
    pub(super) fn told(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// Rows starting at a number, up to a size, but at least one.
    pub(super) fn read(&self, from: u64, bytes: usize) -> io::Result<Batch> {
        let kept = self.lock();
        let written = kept.count - kept.unwritten_count;
        let first = kept.files.front().map_or(written, |file| file.first);
        let start = from.max(first);
        let missed = start - from;
        let spool = kept
            .files
            .iter()
            .find(|file| (file.first..file.end).contains(&start));
        let Some(spool) = spool else {
            let next = start.min(written);
            return Ok(Batch {
                text: String::new(),
                next,
                missed,
            });
        };
        let skipped = (start - spool.first) % STRIDE;
        let mark = usize::try_from((start - spool.first) / STRIDE).unwrap_or(usize::MAX);
        let at = spool.marks.get(mark).copied().unwrap_or_default();
        let (file, end, until) = (Arc::clone(&spool.file), spool.bytes, spool.end);
        drop(kept);
        let mut lines = Lines {
            file,
            at,
            end,
            buffer: Vec::new(),
        };
        for _ in 0..skipped {
            lines.next()?;
        }
        let mut some = Batch {
            text: String::new(),
            next: start,
            missed,
        };
        while some.next < until && some.text.len() < bytes {
            let Some(line) = lines.next()? else { break };
            if !some.text.is_empty() {
                some.text.push(',');
            }
            some.text.push_str(&String::from_utf8_lossy(&line));
            some.next += 1;
        }
        Ok(some)
    }

    fn lock(&self) -> MutexGuard<'_, StoredRows> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredRows {
    fn write(&mut self, make: &MakeFile, room: Room) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        let first = self.count - self.unwritten_count;
        if self
            .files
            .back()
            .is_none_or(|file| file.bytes >= room.file_bytes)
        {
            self.files.push_back(Spool {
                file: Arc::new(make()?),
                first,
                end: first,
                bytes: 0,
                marks: Vec::new(),
            });
            while self.files.len() > room.files.max(1) {
                self.files.pop_front();
            }
        }
        let Some(spool) = self.files.back_mut() else {
            return Ok(());
        };
        files::write_all_at(&spool.file, &self.unwritten, spool.bytes)?;
        let mut at = spool.bytes;
        for line in self.unwritten.split_inclusive(|byte| *byte == b'\n') {
            if (spool.end - spool.first).is_multiple_of(STRIDE) {
                spool.marks.push(at);
            }
            spool.end += 1;
            at += line.len() as u64;
        }
        spool.bytes = at;
        self.unwritten.clear();
        self.unwritten_count = 0;
        Ok(())
    }
}

/// Reads lines of a file from a position.
struct Lines {
    file: Arc<File>,
    at: u64,
    end: u64,
    // The unread part.
    buffer: Vec<u8>,
}

/// The size of one read, in bytes.
const READ_BYTES: u64 = 64 << 10;

impl Lines {
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut searched = 0;
        loop {
            let rest = self.buffer.part(searched..);
            if let Some(found) = memchr(b'\n', rest) {
                let mut line: Vec<u8> = self.buffer.drain(..=searched + found).collect();
                line.pop();
                return Ok(Some(line));
            }
            searched = self.buffer.len();
            let wanted = READ_BYTES.min(self.end.saturating_sub(self.at));
            if wanted == 0 {
                return Ok(None);
            }
            let mut more = vec![0; usize::try_from(wanted).unwrap_or_default()];
            files::read_exact_at(&self.file, &mut more, self.at)?;
            self.at += wanted;
            self.buffer.extend_from_slice(&more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(room: Room) -> Rows {
        Rows::new(Box::new(tempfile::tempfile), room)
    }

    #[test]
    fn rows_are_read_from_any_number_on_and_only_once_they_are_whole() {
        let rows = rows(Room::default());
        for number in 0..100 {
            rows.push(&format!("{{\"n\":{number}}}")).unwrap();
        }
        let nothing = Batch::default();
        assert_eq!(rows.read(0, 10).unwrap(), nothing);
        rows.flush().unwrap();
        assert_eq!(*rows.told().borrow(), 100);
        for from in [0, 1, 31, 32, 33, 99] {
            let some = rows.read(from, 1).unwrap();
            assert_eq!(some.text, format!("{{\"n\":{from}}}"));
            assert_eq!((some.next, some.missed), (from + 1, 0));
        }
        let all = rows.read(97, 1 << 20).unwrap();
        assert_eq!(all.text, "{\"n\":97},{\"n\":98},{\"n\":99}");
        assert_eq!(
            rows.read(100, 10).unwrap(),
            Batch {
                next: 100,
                ..nothing
            }
        );
        // A number beyond the end, as from a previous run.
        assert_eq!(rows.read(700, 10).unwrap().next, 100);
    }

    #[test]
    fn the_oldest_are_given_up_and_counted() {
        let rows = rows(Room {
            file_bytes: 1,
            files: 2,
        });
        for number in 0..5 {
            rows.push(&number.to_string()).unwrap();
            rows.flush().unwrap();
        }
        let some = rows.read(1, 100).unwrap();
        assert_eq!(
            some,
            Batch {
                text: "3".to_owned(),
                next: 4,
                missed: 2
            }
        );
        assert_eq!(rows.read(4, 100).unwrap().text, "4");
    }
}
