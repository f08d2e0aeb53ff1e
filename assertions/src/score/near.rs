//! Questions that only differ in values that are new in every session: UUIDs, times, trace ids.

use tapewright_schemas::volatile::{Volatile, mask};

use crate::json::Json;
use crate::test::Ask;

/// The question with each of its UUIDs and times replaced by a placeholder for its kind; `None` if
/// it has none.
pub(super) fn masked_ask(ask: &Ask) -> Option<Ask> {
    let masked = ask.with_params(&masked(&ask.params()));
    (masked != *ask).then_some(masked)
}

/// The same for recorded parameters.
pub(super) fn masked(value: &Json) -> Json {
    member("", value)
}

fn member(name: &str, value: &Json) -> Json {
    match value {
        Json::String(one) => Json::String(text(name, one)),
        Json::Number(source) => match Volatile::of_number(source.as_bytes()) {
            Some(kind) => kind.placeholder().into(),
            None => value.clone(),
        },
        Json::Array(elements) => Json::Array(elements.iter().map(masked).collect()),
        Json::Object(members) => {
            let below = |(name, value): (&String, &Json)| (name.clone(), member(name, value));
            Json::Object(members.iter().map(below).collect())
        }
        Json::Null | Json::Bool(_) => value.clone(),
    }
}

fn text(name: &str, text: &str) -> String {
    if let Some(kind) = Volatile::of_string(name.as_bytes(), text.as_bytes()) {
        return kind.placeholder().to_owned();
    }
    let mut out = Vec::new();
    mask(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
