//! Makes rows from a tape for SQL queries: one for each exchange, each finding, each model call,
//! and each new definition of a tool.
//!
//! Rows only depend on a prefix of the tape: every reader of the tape up to the same position gets
//! the same rows. The rows of a range are those of exchanges that were settled within it, of
//! findings that are on the tape or certain there, and of definitions of tools that were listed
//! there.

mod calls;
mod check;
mod fold;
mod table;
mod tools;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use tapewright_schemas::tape::{Ending, ReadError, Reader};

use self::fold::Fold;
pub use self::fold::Tape;
pub use self::table::Table;
use crate::summary::Summary;

/// The rows of a range, as Parquet files; `None` if there are no rows of that kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// One for each exchange.
    pub exchanges: Option<Table>,
    /// One for each finding.
    pub findings: Option<Table>,
    /// One for each model call.
    pub model_calls: Option<Table>,
    /// One for each definition of a tool that is new or changed.
    pub tools: Option<Table>,
    /// Their summary.
    pub summary: Summary,
}

/// Why there are no rows. The range is shipped without them.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// The tape's format can only be read from the beginning.
    #[error("tapes of format 1 have no rows")]
    Old,
    /// A line of the tape is not an event.
    #[error("cannot read the tape: {0}")]
    Tape(#[from] ReadError),
    /// The file could not be read.
    #[error("cannot read the tape: {0}")]
    Io(#[from] io::Error),
    /// The rows could not be written.
    #[error("cannot write rows: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
}

/// Follows a tape, range by range.
#[derive(Debug)]
pub struct Deriver {
    tape: Tape,
    fold: Fold,
    at: u64,
}

impl Deriver {
    /// At the start of a tape.
    #[must_use]
    pub fn new(tape: Tape) -> Self {
        Self {
            fold: Fold::new(),
            tape,
            at: 0,
        }
    }

    /// How far the tape was read, in bytes.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// The rows of the range from `start` to `end`, which is the end of a line; with `is_last`,
    /// nothing follows. Lines before `start` that were not read yet are read without making rows.
    pub fn derive(
        &mut self,
        file: &File,
        start: u64,
        end: u64,
        is_last: bool,
    ) -> Result<Rows, RowsError> {
        self.read(file, start)?;
        self.fold.forget();
        self.read(file, end)?;
        self.rows(is_last)
    }

    /// The rows of the next range, which has these lines and ends at `end`.
    pub fn derive_lines(
        &mut self,
        lines: &[u8],
        end: u64,
        is_last: bool,
    ) -> Result<Rows, RowsError> {
        if !lines.is_empty() {
            self.read_lines(lines, end)?;
        }
        self.rows(is_last)
    }

    fn rows(&mut self, is_last: bool) -> Result<Rows, RowsError> {
        if is_last {
            self.fold.finish();
        }
        let told = self.fold.take();
        Ok(Rows {
            exchanges: table::exchanges(&self.tape, &told.exchanges)?,
            findings: table::findings(&self.tape, &told.findings)?,
            model_calls: calls::table(&self.tape, &told.calls)?,
            tools: tools::table(&self.tape, &told.tools)?,
            summary: table::summary(&told.exchanges, &told.findings),
        })
    }

    fn read(&mut self, file: &File, end: u64) -> Result<(), RowsError> {
        if self.at >= end {
            return Ok(());
        }
        let region = Region {
            file,
            at: self.at,
            end,
        };
        self.read_lines(io::BufReader::with_capacity(BUFFER, region), end)
    }

    fn read_lines(&mut self, region: impl io::BufRead, end: u64) -> Result<(), RowsError> {
        let mut reader = if self.at == 0 {
            let reader = Reader::open(region)?;
            if reader.header().tape.split('.').next() == Some(OLD_MAJOR) {
                return Err(RowsError::Old);
            }
            self.fold.begin(reader.header());
            reader
        } else {
            Reader::within(self.tape.header(), region, self.at)
        };
        while let Some(event) = reader.next_event()? {
            let message = reader.envelope(&event);
            self.fold.observe(&event, message.as_ref());
        }
        if matches!(reader.ending(), Some(Ending::Footer(_))) {
            self.fold.finish();
        }
        self.at = end;
        Ok(())
    }
}

/// The format whose events depend on earlier ones.
const OLD_MAJOR: &str = "1";
/// How many bytes are read at once.
const BUFFER: usize = 256 << 10;

/// A range of a file.
struct Region<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl io::Read for Region<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let most = left.min(out.len());
        let read = self
            .file
            .read_at(out.get_mut(..most).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
