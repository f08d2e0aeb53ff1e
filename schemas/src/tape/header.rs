//! The first line of a tape.

use serde::{Deserialize, Serialize};

use crate::made_in::MadeIn;

/// The version that this build writes.
pub const VERSION: &str = "2.4";

/// What was recorded, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format, `major.minor`.
    pub tape: String,
    /// Wall time of offset zero, RFC 3339 in UTC.
    #[serde(default)]
    pub created: String,
    /// Program and version that wrote it.
    #[serde(default)]
    pub by: String,
    /// `stdio`, or `http`.
    #[serde(default)]
    pub transport: String,
    /// Name of the server, for captures and reports.
    #[serde(default)]
    pub label: String,
    /// Program and arguments of the child, redacted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Working folder of the child, redacted; `~` is the home.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// Where it was recorded, for a replay on another machine.
    #[serde(default, skip_serializing_if = "MadeIn::is_empty")]
    pub made_in: MadeIn,
    /// URL of the upstream server, redacted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub upstream: String,
    /// The only session on this tape, if the recording has a tape for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u32>,
    /// Name of the tape that this one continues.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub continues: String,
    /// The id of the recording that this tape is a part of, if an agent's recording has several
    /// tapes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part_of: String,
    /// Names of the child's environment variables, never their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
    /// Process id of the recorder.
    #[serde(default)]
    pub pid: u32,
    /// `queue`, `written` or `synced`.
    #[serde(default)]
    pub durability: String,
    /// `wait` or `gap`.
    #[serde(default)]
    pub when_full: String,
    /// The length of the longest message that is recorded whole, in bytes.
    #[serde(default)]
    pub max_message_bytes: u64,
    /// The seed of the random injected faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The faults that were configured when the recording began, without the values that they
    /// match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// False if redaction was turned off.
    #[serde(default = "yes")]
    pub redacted: bool,
}

fn yes() -> bool {
    true
}

impl Header {
    /// Appends the header as one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        // A struct of strings and numbers always has a JSON text.
        if serde_json::to_writer(&mut *out, self).is_ok() {
            out.push(b'\n');
        }
    }
}
