//! Suggestions for misspelled names, as a sentence.

pub(crate) use tapewright_schemas::near::did_you_mean;

/// A similar candidate, or else the list of candidates.
pub(crate) fn suggestion(word: &str, noun: &str, candidates: &[&str]) -> String {
    did_you_mean(word, candidates.iter().copied()).unwrap_or_else(|| {
        if candidates.is_empty() {
            format!("no {noun} are defined")
        } else {
            format!("{noun}: {}", listed(candidates))
        }
    })
}

/// Names in backticks, only the first of them if there are many.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<_> = names
        .iter()
        .take(MOST_LISTED)
        .map(|name| format!("`{name}`"))
        .collect();
    let text = shown.join(", ");
    match names.len().checked_sub(MOST_LISTED) {
        Some(more) if more > 0 => format!("{text} and {more} more"),
        _ => text,
    }
}

const MOST_LISTED: usize = 24;
