//! Known failures of a server.

use std::collections::HashSet;

use crate::issue::Code;
use crate::read::Cursor;
use crate::source::SourceSpot;

/// Known failures of a server.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    /// Each once, in the order of the file.
    pub server: Vec<KnownFailure>,
    /// The version of the program that wrote it, if given.
    pub version: Option<String>,
}

/// A rule that a server is known to violate.
#[derive(Clone, Debug)]
pub struct KnownFailure {
    /// `TOOL-003`, or the name of a check.
    pub rule_id: String,
    /// Why it is not fixed.
    pub reason: Option<String>,
    /// A link to its issue.
    pub tracking: Option<String>,
    /// Its position.
    pub place: SourceSpot,
}

/// Reads a baseline.
pub(super) fn baseline(at: &Cursor<'_>) -> Baseline {
    let mut fields = at.fields();
    let server = fields.required("server").map(|at| at.items());
    let server: Vec<KnownFailure> = server.unwrap_or_default().iter().map(known).collect();
    let version = fields.optional_name("mcptest_version");
    fields.finish();
    let mut seen = HashSet::new();
    let items = at.fields().optional("server").map(|at| at.items());
    for (one, at) in server.iter().zip(items.unwrap_or_default()) {
        if !one.rule_id.is_empty() && !seen.insert(&one.rule_id) {
            let message = format!("duplicate `{}`", one.rule_id.escape_debug());
            at.error(Code::DuplicateName, message, "keep one of them".to_owned());
        }
    }
    Baseline { server, version }
}

fn known(at: &Cursor<'_>) -> KnownFailure {
    if !at.is_object() {
        return KnownFailure {
            rule_id: at.name(),
            reason: None,
            tracking: None,
            place: at.place(),
        };
    }
    let mut fields = at.fields();
    let known = KnownFailure {
        rule_id: fields.name("rule_id"),
        reason: fields.optional_name("reason"),
        tracking: fields.optional_name("tracking"),
        place: at.place(),
    };
    fields.finish();
    known
}
