//! Errors in filter words, with the valid alternatives.

use crate::near::did_you_mean;

/// The names of filter words, with the values that each accepts.
pub const WORDS: [(&str, &str); 10] = [
    ("tool", "part of the name of a tool"),
    ("method", "part of a method"),
    ("model", "part of the name of a model"),
    (
        "status",
        "ok, error, cancelled, late, pending, gone, unknown, fault, finding, or a number such as 401 or -32601",
    ),
    ("dir", "to_server or to_client"),
    ("session", "the number of a session"),
    (
        "kind",
        "exchange, model, notification, progress, cancellation, late, orphan, noise, stderr, http, fault, finding or gap",
    ),
    ("id", "the id of a request"),
    ("slow", ">200ms, or <5s"),
    ("text", "a text that may hold a colon"),
];

/// Why a filter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid filter `{word}`: {why}")]
pub struct FilterError {
    /// The word, as it was given.
    pub word: String,
    /// The reason.
    pub why: String,
}

impl FilterError {
    /// The value after the colon is missing or unknown.
    pub(super) fn value(name: &str, value: &str, wanted: &str) -> Self {
        Self {
            word: format!("{name}:{value}"),
            why: format!("expected {wanted}"),
        }
    }

    /// There is no filter word with this name.
    pub(super) fn name(name: &str, word: &str) -> Self {
        let names = WORDS.iter().map(|(name, _)| *name);
        let near = did_you_mean(name, names.clone());
        let near = near.map_or_else(String::new, |near| format!("; {near}"));
        let all: Vec<String> = names.map(|name| format!("`{name}:`")).collect();
        Self {
            word: word.to_owned(),
            why: format!(
                "unknown word `{name}:`; expected one of {}, or `text:{word}` for the text itself{near}",
                all.join(", ")
            ),
        }
    }
}
