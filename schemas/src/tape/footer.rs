//! The last line of a tape.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::old;
use crate::event::Gap;
use crate::event::tokens::tokens;

/// How a recording ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Footer {
    /// When, in microseconds since the tape began.
    pub at_us: u64,
    /// The number of events on the tape.
    pub events: u64,
    /// Whether everything that crossed is on the tape.
    pub complete: bool,
    /// The reason if it is incomplete, unless it only has gaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<TapeFailure>,
    /// Further details, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What is missing.
    #[serde(skip_serializing_if = "GapTotal::is_empty")]
    pub gaps: GapTotal,
    /// The number of secrets that were replaced, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
}

tokens! {
    /// Why a tape does not hold everything.
    pub enum TapeFailure {
        /// It breaks off: the recorder was stopped, or could not write, before the footer.
        CutShort = "cut_short",
        /// It has gaps.
        Gaps = "gaps",
        /// Its file could not be created.
        NotCreated = "not_created",
        /// Its file could not be written.
        NotWritten = "not_written",
        /// Unknown.
        Unknown = "unknown",
    }
}

/// A footer as a tape of any version has it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    at_us: u64,
    events: u64,
    complete: bool,
    why: Option<String>,
    detail: Option<String>,
    gaps: GapTotal,
    redactions: BTreeMap<String, u64>,
}

impl From<Written> for Footer {
    fn from(written: Written) -> Self {
        let (why, detail) = written.why.map(old::tape_failure).unzip();
        Self {
            at_us: written.at_us,
            events: written.events,
            complete: written.complete,
            why,
            detail: written.detail.or(detail.flatten()),
            gaps: written.gaps,
            redactions: written.redactions,
        }
    }
}

/// The total of what is missing on a tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapTotal {
    /// The number of gaps.
    #[serde(default)]
    pub count: u64,
    /// The number of events in them.
    #[serde(default)]
    pub events: u64,
    /// The number of bytes of payload in them.
    #[serde(default)]
    pub bytes: u64,
}

impl GapTotal {
    /// Whether nothing is missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// One more.
    pub fn add(&mut self, gap: &Gap) {
        self.count += 1;
        self.events = self.events.saturating_add(gap.events);
        self.bytes = self.bytes.saturating_add(gap.bytes);
    }
}

#[derive(Serialize)]
struct Line<'a> {
    end: &'a Footer,
}

impl Footer {
    /// Appends the footer as one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        // A struct of strings and numbers always has a JSON text.
        if serde_json::to_writer(&mut *out, &Line { end: self }).is_ok() {
            out.push(b'\n');
        }
    }
}
