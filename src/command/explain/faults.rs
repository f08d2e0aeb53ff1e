//! The kinds of faults, explained.

use tapewright_engine::fault::kinds::{ALL, find};

use super::families::Family;

/// The faults that `--fault` can inject.
pub(super) const FAMILY: Family = Family {
    title: "Faults (record --fault, replay --fault, fault add)",
    list,
    page,
};

/// The prefix of the name of a kind, here and on a tape.
const PREFIX: &str = "fault:";

fn list() -> Vec<(String, String)> {
    ALL.iter()
        .map(|kind| (format!("{PREFIX}{}", kind.name), kind.does.to_owned()))
        .collect()
}

fn page(word: &str) -> Option<String> {
    let word = word.trim().to_ascii_lowercase();
    let kind = find(word.strip_prefix(PREFIX)?)?;
    Some(format!("{PREFIX}{}\n\n{}", kind.name, kind.explain()))
}
