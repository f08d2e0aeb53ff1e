//! The interface for finding and reading tapes and their files of rows.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;

/// Lists tapes, knows facts about their files, and reads them.
#[async_trait]
pub trait Source: Debug + Send + Sync + 'static {
    /// The names of all tapes, or of those of some gateways.
    async fn names(&self, gateways: Option<&BTreeSet<String>>) -> Result<Vec<Named>, SourceError>;

    /// The facts about these tapes; tapes that no longer exist are left out.
    async fn tapes(&self, names: &[Named]) -> Result<Vec<Arc<Tape>>, SourceError>;

    /// Bytes of a file.
    async fn read(&self, path: &str, range: Range<u64>) -> Result<Bytes, SourceError>;
}

/// An error of a source; its message is shown to the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(#[source] pub Box<dyn Error + Send + Sync>);

/// A tape, with the facts in its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// The gateway that shipped it.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// No event is earlier, in microseconds since 1970.
    pub from_us: Option<i64>,
}

/// A tape, with the facts in its entries: a row of the table `tapes`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// The gateway that shipped it.
    pub gateway: String,
    /// Its name.
    pub tape: String,
    /// Name of the server that was recorded.
    pub label: String,
    /// `stdio`, or `http`.
    pub transport: String,
    /// Its state, as a token.
    pub state: String,
    /// What is missing, as text.
    pub missing: Option<String>,
    /// When the recording began, in microseconds since 1970.
    pub created_us: Option<i64>,
    /// When its first event happened.
    pub first_us: Option<i64>,
    /// When its last event happened.
    pub last_us: Option<i64>,
    /// When it was last shipped.
    pub shipped_us: Option<i64>,
    /// How many of its events are stored.
    pub events: u64,
    /// How many of its bytes are stored.
    pub bytes: u64,
    /// The size of its segments.
    pub stored_bytes: u64,
    /// The number of its segments.
    pub segments: u64,
    /// How many events were lost before they were shipped.
    pub lost_events: u64,
    /// How many bytes were lost before they were shipped.
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
    /// One row for each model call.
    ModelCalls,
    /// One row for each definition of a tool that is new or changed on its tape.
    Tools,
}

/// A file of rows, with the facts that are known before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The table of its rows.
    pub table: Table,
    /// Its path, in ASCII without escapes.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// How many rows it has.
    pub rows: u64,
    /// When its first row began, in microseconds since 1970.
    pub first_us: Option<i64>,
    /// When its last row began.
    pub last_us: Option<i64>,
    /// The tools of its rows, unless there are too many.
    pub tools: Option<BTreeSet<String>>,
}

/// What was read for an answer.
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
    /// How many tapes were considered by their names; a table that is used twice counts twice.
    #[must_use]
    pub fn tapes(&self) -> u64 {
        self.tapes.load(Ordering::Relaxed)
    }

    /// How many of them were read.
    #[must_use]
    pub fn tapes_read(&self) -> u64 {
        self.tapes_read.load(Ordering::Relaxed)
    }

    /// How many files they have.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.files.load(Ordering::Relaxed)
    }

    /// How many of those may have matching rows.
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
