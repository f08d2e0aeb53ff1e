//! Removes the secrets from failures.

use tapewright_assertions::{Failure, Json};

use super::view::Redaction;

/// How many hidden values of one failure are replaced in its message.
const MOST: usize = 64;

/// The failure without secrets: in its values, in their differences, and in its message.
pub(super) fn failure(failure: &Failure, redaction: &mut Redaction) -> Failure {
    let mut hidden = Vec::new();
    let mut shown = |value: &Option<Json>| {
        let value = value.as_ref()?;
        let clean = redaction.json(value);
        note(value, &clean, &mut hidden);
        Some(clean)
    };
    let (expected, actual) = (shown(&failure.expected), shown(&failure.actual));
    let mut clean = failure.with_values(expected, actual);
    for text in clean.words_mut() {
        for (secret, instead) in &hidden {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), instead);
            }
        }
        *text = redaction.text(text);
    }
    clean
}

/// Notes values that are hidden completely, quoted as in the messages of matchers.
fn note(value: &Json, clean: &Json, hidden: &mut Vec<(String, String)>) {
    match (value, clean) {
        (Json::Array(ours), Json::Array(theirs)) => {
            for (one, other) in ours.iter().zip(theirs) {
                note(one, other, hidden);
            }
        }
        (Json::Object(ours), Json::Object(theirs)) => {
            for (one, other) in ours.values().zip(theirs.values()) {
                note(one, other, hidden);
            }
        }
        (Json::String(one), Json::String(other)) if one != other && hidden.len() < MOST => {
            hidden.push((value.to_string(), clean.to_string()));
            hidden.push((format!("`{one}`"), format!("`{other}`")));
        }
        _ => {}
    }
}
