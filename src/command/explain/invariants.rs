//! The invariants, explained.

use tapewright_compliance::code::Code;
use tapewright_compliance::table::{TABLE, find};

use super::families::Family;
use crate::report;

/// The invariants of a session.
pub(super) const FAMILY: Family = Family {
    title: "Session invariants (tapewright compliance invariants, record --check)",
    list,
    page,
};

fn list() -> Vec<(String, String)> {
    let line = |rule: &&tapewright_compliance::Invariant| {
        (rule.code.to_string(), rule.property.to_owned())
    };
    TABLE.iter().map(line).collect()
}

fn page(word: &str) -> Option<String> {
    let code: Code = word.parse().ok()?;
    find(code).map(report::explain::invariant)
}
