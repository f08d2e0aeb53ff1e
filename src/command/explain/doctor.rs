//! The migration cases, explained.

use tapewright_corpus::migration::{CASES, find};

use super::families::Family;
use crate::report;

/// The cases that `compliance doctor` examines.
pub(super) const FAMILY: Family = Family {
    title: "Migration cases (tapewright compliance doctor)",
    list,
    page,
};

fn list() -> Vec<(String, String)> {
    let line =
        |case: &&tapewright_corpus::migration::Case| (case.id.to_owned(), case.summary.to_owned());
    CASES.iter().map(line).collect()
}

fn page(word: &str) -> Option<String> {
    let id = word.trim().to_ascii_lowercase();
    find(&id).map(report::explain::case)
}
