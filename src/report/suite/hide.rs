//! Failures without the secrets of their values.

use tapewright_assertions::{Failure, Json};

use super::view::Redaction;

/// How many hidden texts of one failure are looked for in its words.
const MOST: usize = 64;

/// The failure as it may be told: its values without secrets, what differs between these,
/// and the same in its words.
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

/// Notes the texts that are hidden as a whole, in the quotes in which matchers tell them.
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
