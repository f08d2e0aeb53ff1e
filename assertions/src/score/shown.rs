//! The form in which a recording shows a question with a secret.
//!
//! A placeholder's number belongs to one tape, so placeholders of two texts are compared without
//! their numbers. Other tools hide more than tapewright: their placeholders match any text that
//! fits.

use tapewright_schemas::redact::hidden;

use crate::json::Json;
use crate::test::Ask;

/// `value` with all placeholders made equal.
pub(super) fn unnumbered(value: &Json) -> Json {
    match value {
        Json::String(one) => Json::String(text(one)),
        Json::Array(elements) => Json::Array(elements.iter().map(unnumbered).collect()),
        Json::Object(members) => {
            let member = |(name, value): (&String, &Json)| (text(name), unnumbered(value));
            Json::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

fn text(text: &str) -> String {
    String::from_utf8_lossy(&hidden::generic(text.as_bytes())).into_owned()
}

/// Whether a recorded question may be `ask`, which a recording shows as `shown`.
pub(super) fn may_be(ask: &Ask, shown: Option<&Ask>, params: &Json) -> bool {
    if shown.is_some_and(|shown| unnumbered_ask(shown).is_asked_by(&unnumbered(params))) {
        return true;
    }
    match ask {
        Ask::Tool { name, arguments } | Ask::Prompt { name, arguments } => {
            let asked = arguments.as_ref().zip(params.get("arguments"));
            params.get("name").and_then(Json::as_str) == Some(name)
                && asked.is_some_and(|(asked, recorded)| fits(recorded, asked))
        }
        _ => false,
    }
}

/// The question with all placeholders made equal.
pub(super) fn unnumbered_ask(ask: &Ask) -> Ask {
    ask.with_params(&unnumbered(&ask.params()))
}

/// Whether the placeholders of `recorded` match the values of `asked` in their places.
fn fits(recorded: &Json, asked: &Json) -> bool {
    match (recorded, asked) {
        (Json::String(recorded), Json::String(asked)) => {
            recorded == asked
                || hidden::is_pattern(recorded.as_bytes())
                    && hidden::fits(recorded.as_bytes(), asked.as_bytes())
        }
        (Json::Array(recorded), Json::Array(asked)) => {
            recorded.len() == asked.len()
                && recorded
                    .iter()
                    .zip(asked)
                    .all(|(one, other)| fits(one, other))
        }
        (Json::Object(recorded), Json::Object(asked)) => {
            recorded.len() == asked.len()
                && recorded
                    .iter()
                    .all(|(name, one)| asked.get(name).is_some_and(|other| fits(one, other)))
        }
        (recorded, asked) => recorded == asked,
    }
}
