//! Tracks how far a tape is written, and wakes its reader.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use tapewright_schemas::slices::Part as _;

use super::handed::{Facts, Handed};

/// How far a tape is written, for the thread that reads it meanwhile.
///
/// While traffic flows the reader checks after short naps and the writer does not notify it, so
/// that no message costs a system call; only a reader that is asleep is woken.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    // Bytes of whole lines.
    written: AtomicU64,
    // The number of them that were read.
    read: AtomicU64,
    closed: AtomicBool,
    asleep: AtomicBool,
    reader: OnceLock<Thread>,
    pub(super) handed: Handed,
}

/// The duration of a nap.
const NAP: Duration = Duration::from_millis(20);
/// The number of naps without new data after which the reader falls asleep.
const NAPS: u32 = 50;

impl Progress {
    /// Sets the number of bytes of whole lines, and takes facts about the new ones.
    pub(crate) fn set(&self, written: u64, facts: &mut Vec<Facts>) {
        // A reader that sees the lines finds the facts.
        self.handed.put(facts);
        self.written.store(written, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Ends all waits.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Whether there is an unread line.
    pub(super) fn is_ahead(&self) -> bool {
        self.behind() > 0
    }

    /// The number of bytes read.
    pub(super) fn read(&self) -> u64 {
        self.read.load(Ordering::SeqCst)
    }

    /// The number of bytes written but not read.
    pub(super) fn behind(&self) -> u64 {
        self.written
            .load(Ordering::SeqCst)
            .saturating_sub(self.read())
    }

    /// Waits until there is more to read, or the end. May return early.
    pub(super) fn wait(&self) {
        self.reader.get_or_init(thread::current);
        let nothing = || !self.is_ahead() && !self.is_closed();
        for _ in 0..NAPS {
            if !nothing() {
                return;
            }
            thread::park_timeout(NAP);
        }
        self.asleep.store(true, Ordering::SeqCst);
        // Checked again: a write before it fell asleep did not wake it.
        if nothing() {
            thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }

    fn wake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
        if let Some(reader) = self.reader.get() {
            reader.unpark();
        }
    }
}

/// The whole lines of a tape that is still written.
#[derive(Debug)]
pub(super) struct Behind {
    file: BufReader<File>,
    read: u64,
    progress: Arc<Progress>,
}

/// The size of one read, in bytes.
const READ_SIZE: usize = 1 << 18;

impl Behind {
    pub(super) fn new(file: File, progress: Arc<Progress>) -> Self {
        Self {
            file: BufReader::with_capacity(READ_SIZE, file),
            read: 0,
            progress,
        }
    }
}

impl BufRead for Behind {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let written = self.progress.written.load(Ordering::SeqCst);
        let left = written.saturating_sub(self.read);
        if left == 0 {
            return Ok(&[]);
        }
        let buffer = self.file.fill_buf()?;
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        // Bytes after whole lines may be truncated again.
        Ok(buffer.part(..buffer.len().min(left)))
    }

    fn consume(&mut self, bytes: usize) {
        self.file.consume(bytes);
        self.read += bytes as u64;
        self.progress.read.store(self.read, Ordering::SeqCst);
    }
}

impl Read for Behind {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}
