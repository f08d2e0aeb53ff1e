//! How far a tape is written, and who waits for more of it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use tapewright_schemas::slices::Part as _;

/// How far a tape is written, told by its writer to the one who reads behind it.
///
/// While traffic flows the reader looks again after a nap and the writer tells nobody, so that
/// no message costs a system call; only one that fell asleep is woken.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    // Bytes of whole lines.
    written: AtomicU64,
    // Bytes of them that were read.
    read: AtomicU64,
    closed: AtomicBool,
    asleep: AtomicBool,
    reader: OnceLock<Thread>,
}

/// How long a nap is.
const NAP: Duration = Duration::from_millis(20);
/// After how many of them without anything new the reader falls asleep.
const NAPS: u32 = 50;

impl Progress {
    /// Says how many bytes of whole lines there are.
    pub(crate) fn set(&self, written: u64) {
        self.written.store(written, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Ends all waiting.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Whether there is a line that was not read.
    pub(super) fn is_ahead(&self) -> bool {
        self.behind() > 0
    }

    /// How many bytes were read.
    pub(super) fn read(&self) -> u64 {
        self.read.load(Ordering::SeqCst)
    }

    /// How many bytes were written and not read.
    pub(super) fn behind(&self) -> u64 {
        self.written
            .load(Ordering::SeqCst)
            .saturating_sub(self.read())
    }

    /// Waits until there is more to read, or nothing to wait for. It may return before.
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

/// How much is read at once, in bytes.
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
        // What stands behind whole lines may be taken back.
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
