//! Reads the available whole lines of a tape that may still be written.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::sync::Arc;

use memchr::memrchr;
use tapewright_schemas::slices::{Part as _, PartMut as _};

use crate::system::files;

/// Reads whole lines. At the end of the last whole line it reports the end of the file, until
/// [`more`](Self::more) finds further lines.
#[derive(Debug)]
pub(crate) struct Growing {
    file: Arc<File>,
    // The file position after the buffer.
    at: u64,
    // Never shrinks: the space after `held` is reused by each read.
    buffer: Vec<u8>,
    held: usize,
    // The start of the unread part, and the end of the last whole line.
    start: usize,
    whole: usize,
}

/// The size of one read, in bytes.
const READ_BYTES: usize = 256 << 10;
/// The maximum length of a line, in bytes: longer than any recorder writes.
const LONGEST: usize = (1 << 30) + (1 << 20);

impl Growing {
    /// Starts at a file position.
    pub(crate) fn new(file: Arc<File>, at: u64) -> Self {
        Self {
            file,
            at,
            buffer: Vec::new(),
            held: 0,
            start: 0,
            whole: 0,
        }
    }

    /// The file position of the next line.
    pub(crate) fn place(&self) -> u64 {
        self.at - (self.held - self.start) as u64
    }

    /// Whether there is an incomplete line.
    pub(crate) fn is_torn(&self) -> bool {
        self.held > self.whole
    }

    /// Whether a whole line is available; reads from the file if there is none in the buffer.
    pub(crate) fn more(&mut self) -> io::Result<bool> {
        while self.start >= self.whole {
            self.buffer.copy_within(self.start..self.held, 0);
            self.held -= self.start;
            (self.start, self.whole) = (0, 0);
            let held = self.held;
            if held > LONGEST {
                return Err(io::Error::other(
                    "a line is longer than any recorder writes",
                ));
            }
            // Read a long line in larger pieces.
            let wanted = held + READ_BYTES.max(held);
            if self.buffer.len() > 4 * READ_BYTES && held < READ_BYTES {
                self.buffer.truncate(wanted);
                self.buffer.shrink_to_fit();
            }
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted, 0);
            }
            let space = self.buffer.part_mut(held..wanted);
            let read = files::read_at(&self.file, space, self.at)?;
            if read == 0 {
                return Ok(false);
            }
            self.held += read;
            self.at += read as u64;
            let end = memrchr(b'\n', self.buffer.part(held..self.held));
            self.whole = end.map_or(0, |end| held + end + 1);
        }
        Ok(true)
    }
}

impl BufRead for Growing {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.buffer.part(self.start..self.whole.max(self.start)))
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
    }
}

impl Read for Growing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_are_handed_out_once_they_are_whole() {
        let mut file = tempfile::tempfile().unwrap();
        let mut growing = Growing::new(Arc::new(file.try_clone().unwrap()), 0);
        let line = |growing: &mut Growing| {
            let mut text = String::new();
            growing
                .more()
                .unwrap()
                .then(|| growing.read_line(&mut text).unwrap());
            text
        };
        assert_eq!(line(&mut growing), "");
        file.write_all(b"one\ntw").unwrap();
        assert_eq!((growing.place(), line(&mut growing).as_str()), (0, "one\n"));
        assert_eq!((growing.place(), line(&mut growing).as_str()), (4, ""));
        let long = "x".repeat(3 * READ_BYTES);
        writeln!(file, "o\n{long}").unwrap();
        assert_eq!(line(&mut growing), "two\n");
        assert_eq!(line(&mut growing).len(), long.len() + 1);
        assert_eq!(growing.place(), 8 + long.len() as u64 + 1);
        assert_eq!(line(&mut growing), "");
    }
}
