//! The last line of a tape.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How a recording ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footer {
    /// When, in microseconds since the tape began.
    #[serde(default)]
    pub at_us: u64,
    /// How many events the tape holds.
    #[serde(default)]
    pub events: u64,
    /// Whether everything that crossed is on the tape.
    #[serde(default)]
    pub complete: bool,
    /// Why not, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What is missing.
    #[serde(default, skip_serializing_if = "GapTotal::is_empty")]
    pub gaps: GapTotal,
    /// How many secrets were replaced, by kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub redactions: BTreeMap<String, u64>,
}

/// What is missing on a tape, in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapTotal {
    /// How many gaps.
    #[serde(default)]
    pub count: u64,
    /// How many events they swallowed.
    #[serde(default)]
    pub events: u64,
    /// How many bytes of payload they swallowed.
    #[serde(default)]
    pub bytes: u64,
}

impl GapTotal {
    /// Whether nothing is missing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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
