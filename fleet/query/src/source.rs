//! Where tapes and the files of their rows are found.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;

/// Tells which tapes there are, what is known of their files, and reads these.
#[async_trait]
pub trait Source: Debug + Send + Sync + 'static {
    /// The names of all tapes, or of those of some gateways.
    async fn names(&self, gateways: Option<&BTreeSet<String>>) -> Result<Vec<Named>, SourceError>;

    /// What is known of these tapes; what is no longer there is left out.
    async fn tapes(&self, names: &[Named]) -> Result<Vec<Arc<Tape>>, SourceError>;

    /// Bytes of a file.
    async fn read(&self, path: &str, range: Range<u64>) -> Result<Bytes, SourceError>;
}

/// Why a source did not do what it was asked; what it says goes to the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(#[source] pub Box<dyn Error + Send + Sync>);

/// A tape, by what its name tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// Who shipped it.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// Nothing on it happened earlier, in microseconds since 1970.
    pub from_us: Option<i64>,
}

/// A tape, by what its entries tell: a row of the table `tapes`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// Who shipped it.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// Name of the server that was recorded.
    pub label: String,
    /// `stdio`, or `http`.
    pub transport: String,
    /// How it is, in a word.
    pub state: String,
    /// What is missing, in words.
    pub missing: Option<String>,
    /// When the recording began, in microseconds since 1970.
    pub created_us: Option<i64>,
    /// When its first event happened.
    pub first_us: Option<i64>,
    /// When its last event happened.
    pub last_us: Option<i64>,
    /// When it was shipped last.
    pub shipped_us: Option<i64>,
    /// How many events of it are there.
    pub events: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How long they are where they stand.
    pub stored_bytes: u64,
    /// In how many segments.
    pub segments: u64,
    /// How many events were lost before they were shipped.
    pub lost_events: u64,
    /// How many bytes were.
    pub lost_bytes: u64,
    /// The files of its rows.
    pub files: Vec<File>,
}

/// A table with rows in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row for each exchange.
    Exchanges,
    /// One row for each finding.
    Findings,
    /// One row for each call of a model.
    ModelCalls,
    /// One row for each definition of a tool that is new or changed on its tape.
    Tools,
}

/// A file of rows, with what is known of it before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Rows of which table.
    pub table: Table,
    /// Where it stands, in plain characters.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// How many rows it has.
    pub rows: u64,
    /// When the first of what they tell began, in microseconds since 1970.
    pub first_us: Option<i64>,
    /// When the last one did.
    pub last_us: Option<i64>,
    /// The tools that they name, unless those are too many.
    pub tools: Option<BTreeSet<String>>,
}

/// What was looked at for an answer.
#[derive(Debug, Default)]
pub struct Counts {
    tapes: AtomicU64,
    tapes_read: AtomicU64,
    files: AtomicU64,
    files_chosen: AtomicU64,
    files_opened: AtomicU64,
    bytes: AtomicU64,
}

impl Counts {
    /// How many tapes were considered by their names; those of a table that is asked twice count twice.
    #[must_use]
    pub fn tapes(&self) -> u64 {
        self.tapes.load(Ordering::Relaxed)
    }

    /// How many of them were looked at.
    #[must_use]
    pub fn tapes_read(&self) -> u64 {
        self.tapes_read.load(Ordering::Relaxed)
    }

    /// How many files these have.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// How many of them may have rows that are asked for.
    #[must_use]
    pub fn files_chosen(&self) -> u64 {
        self.files_chosen.load(Ordering::Relaxed)
    }

    /// How many of them were opened.
    #[must_use]
    pub fn files_opened(&self) -> u64 {
        self.files_opened.load(Ordering::Relaxed)
    }

    /// How many bytes of them were read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add_tapes(&self, all: usize, read: usize) {
        self.tapes.fetch_add(all as u64, Ordering::Relaxed);
        self.tapes_read.fetch_add(read as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_files(&self, all: usize, chosen: usize) {
        self.files.fetch_add(all as u64, Ordering::Relaxed);
        self.files_chosen
            .fetch_add(chosen as u64, Ordering::Relaxed);
    }

    pub(crate) fn add_opened(&self) {
        self.files_opened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
