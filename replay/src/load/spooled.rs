//! A spool that knows whether it is the one that the cassette was started on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// A spool.
#[derive(Debug)]
pub(super) struct Spooled {
    file: File,
    is_first: bool,
}

impl Spooled {
    /// The spool for exchanges.
    pub(super) fn first(file: File) -> Self {
        Self {
            file,
            is_first: true,
        }
    }

    /// Any other spool.
    pub(super) fn other(file: File) -> Self {
        Self {
            file,
            is_first: false,
        }
    }

    /// The file, and whether it is the first.
    pub(super) fn into_parts(self) -> (File, bool) {
        (self.file, self.is_first)
    }
}

impl Write for Spooled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Read for Spooled {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.file.read(out)
    }
}

impl Seek for Spooled {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
