//! Which recorded request matches another one.
//!
//! A key contains what determines the answer: wire, model, instructions, messages, tools, tool
//! choice and parameters. It does not contain headers, whether a stream is requested, which account
//! is charged, where caches begin, signatures, or generated ids: the ids of tool uses are numbered
//! in the order in which they first appear.

mod canon;
mod differ;
mod placeholders;
mod session;

use serde_json::Value;
use tapewright_schemas::redact::hidden;

pub use differ::Difference;

use crate::conversation::{Request, Response};

/// The answer to a request, as one canonical value: its content, and its finish reason. Ids of tool
/// uses are numbered after those of the request.
#[must_use]
pub fn answer(request: &Request, response: &Response) -> Value {
    let mut value = canon::answer(request, response);
    placeholders::renumber(&mut value);
    value
}

/// The key of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    value: Value,
    text: String,
}

impl Key {
    /// The key of a request.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        Self::of_value(canon::of(request))
    }

    fn of_value(mut value: Value) -> Self {
        placeholders::renumber(&mut value);
        let text = value.to_string();
        Self { value, text }
    }

    /// The key without the values at these places: each a list of names and numbers, where `*`
    /// is any.
    #[must_use]
    pub fn without(self, places: &[Vec<String>]) -> Self {
        if places.is_empty() {
            return self;
        }
        let mut value = self.value;
        for place in places {
            forget(&mut value, place);
        }
        Self::of_value(value)
    }

    /// The key as JSON, always the same text for the same key: equal texts are equal keys.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text with a mark for values that are new in every session: UUIDs, times, dates,
    /// temporary folders, hashes; and with one mark for every placeholder of a secret. For use
    /// after an exact comparison failed.
    #[must_use]
    pub fn masked(&self) -> String {
        let generic = hidden::generic(self.text.as_bytes());
        session::mask(&String::from_utf8_lossy(&generic))
    }

    /// The key without its instructions, and with a mark for every text: the roles and kinds of
    /// blocks, the available and used tools, and all parameters.
    #[must_use]
    pub fn outline(&self) -> String {
        let mut value = self.value.clone();
        if let Value::Object(map) = &mut value {
            map.shift_remove("system");
            map.shift_remove("max_tokens");
            if let Some(messages) = map.get_mut("messages") {
                blank(messages);
            }
        }
        value.to_string()
    }

    /// Whether it contains a placeholder that matches any text.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        hidden::is_pattern(self.text.as_bytes())
    }

    /// Whether the live request matches this recorded one, where placeholders may match any text.
    #[must_use]
    pub fn fits(&self, live: &Self) -> bool {
        placeholders::fits(&self.value, &live.value)
    }

    /// The first part in which this request differs from a recorded one; `None` if they are equal.
    #[must_use]
    pub fn difference(&self, recorded: &Self) -> Option<Difference> {
        differ::first(&recorded.value, &self.value)
    }

    /// The recorded request that is nearest, and the first part in which this one differs
    /// from it: that on the same wire and to the same model whose beginning is the longest
    /// that both share.
    pub fn nearest<'k>(
        &self,
        recorded: impl IntoIterator<Item = &'k Self>,
    ) -> Option<(usize, Option<Difference>)> {
        let mut best: Option<((bool, bool, usize), usize, &Self)> = None;
        for (at, key) in recorded.into_iter().enumerate() {
            let nearness = self.nearness(key);
            if best.as_ref().is_none_or(|(known, ..)| nearness > *known) {
                best = Some((nearness, at, key));
            }
        }
        best.map(|(_, at, key)| (at, self.difference(key)))
    }

    fn nearness(&self, other: &Self) -> (bool, bool, usize) {
        let is_same = |name: &str| self.value.get(name) == other.value.get(name);
        let pairs = self.text.bytes().zip(other.text.bytes());
        let shared = pairs.take_while(|(one, other)| one == other).count();
        (is_same("wire"), is_same("model"), shared)
    }
}

/// Removes the value at a place.
fn forget(value: &mut Value, place: &[String]) {
    let Some((step, rest)) = place.split_first() else {
        return;
    };
    let is_last = rest.is_empty();
    match value {
        Value::Object(map) if is_last => map.retain(|name, _| step != "*" && name != step),
        Value::Object(map) => {
            let found = map.iter_mut();
            for (_, value) in found.filter(|(name, _)| step == "*" || *name == step) {
                forget(value, rest);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter_mut().enumerate() {
                if step != "*" && step.parse() != Ok(at) {
                    continue;
                }
                if is_last {
                    *value = Value::Null;
                } else {
                    forget(value, rest);
                }
            }
        }
        _ => {}
    }
}

/// Replaces every text of messages by a mark. Tool uses and tool results keep their names and the
/// names of their members.
fn blank(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(blank),
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                match value {
                    Value::String(text) if !KEPT.contains(&name.as_str()) => {
                        "…".clone_into(text);
                    }
                    value => blank(value),
                }
            }
        }
        _ => {}
    }
}

/// Members whose texts are names.
const KEPT: [&str; 4] = ["role", "tool_use", "id", "tool_result"];

#[cfg(test)]
mod tests;
