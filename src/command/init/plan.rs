//! The calls to send to a server, by its lists.

use serde_json::{Value, json};

use super::arguments;
use crate::suite::write::Stub;
use crate::suite::write::call::{Asks, Call};

/// The calls to send to a server.
pub(super) struct Plan {
    pub(super) asked: Vec<Call>,
    pub(super) stubs: Vec<Stub>,
}

/// Why a tool was not called.
const NOT_SAFE: &str =
    "It does not say that it changes nothing (`readOnlyHint`), and was not called.";

/// Whether a tool may be called without asking the user: it is read-only, or it requires no
/// argument and declares that it is not destructive. By the specification's defaults, a tool may be
/// neither.
fn is_safe(tool: &Value) -> bool {
    let hint = |name: &str| tool.get("annotations")?.get(name)?.as_bool();
    let required = tool.pointer("/inputSchema/required");
    let asks_nothing = required.and_then(Value::as_array).is_none_or(Vec::is_empty);
    match hint("readOnlyHint") {
        Some(true) => true,
        _ => asks_nothing && hint("destructiveHint") == Some(false),
    }
}

impl Plan {
    pub(super) fn tool(&mut self, tool: &Value, all_tools: bool) {
        let Some(name) = tool.get("name").and_then(Value::as_str) else {
            return;
        };
        let made = arguments::of(tool.get("inputSchema"));
        let why = match (&made, all_tools || is_safe(tool)) {
            (Some(_), true) => None,
            (None, _) => Some("Its schema does not say what its arguments may be: fill them in."),
            (_, false) => Some(NOT_SAFE),
        };
        let call = call(Asks::Tool, name, made);
        match why {
            None => self.asked.push(call),
            Some(why) => self.stubs.push(Stub {
                call,
                why: why.to_owned(),
            }),
        }
    }

    pub(super) fn prompt(&mut self, prompt: &Value) {
        let Some(name) = prompt.get("name").and_then(Value::as_str) else {
            return;
        };
        let arguments = prompt.get("arguments").and_then(Value::as_array);
        let required = |one: &&Value| one.get("required").and_then(Value::as_bool) == Some(true);
        let needed: serde_json::Map<String, Value> = arguments
            .into_iter()
            .flatten()
            .filter(required)
            .filter_map(|one| Some((one.get("name")?.as_str()?.to_owned(), json!("hello"))))
            .collect();
        let arguments = (!needed.is_empty()).then_some(Value::Object(needed));
        self.asked.push(call(Asks::Prompt, name, arguments));
    }
}

pub(super) fn call(asks: Asks, name: &str, arguments: Option<Value>) -> Call {
    Call {
        asks,
        name: name.to_owned(),
        arguments,
        answers: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_that_it_does_no_harm_is_called() {
        let open = json!({ "type": "object" });
        let closed =
            json!({ "type": "object", "required": ["a"], "properties": { "a": { "default": 1 } } });
        for (hints, schema, safe) in [
            (json!({ "readOnlyHint": true }), &closed, true),
            (json!({ "destructiveHint": false }), &open, true),
            (json!({ "destructiveHint": false }), &closed, false),
            (json!({ "destructiveHint": true }), &open, false),
            (json!({ "readOnlyHint": "yes" }), &open, false),
            (json!({}), &open, false),
            (Value::Null, &open, false),
        ] {
            let tool = json!({ "name": "t", "annotations": hints, "inputSchema": schema });
            let mut plan = Plan {
                asked: Vec::new(),
                stubs: Vec::new(),
            };
            plan.tool(&tool, false);
            assert_eq!(
                (plan.asked.len(), plan.stubs.len()),
                (usize::from(safe), usize::from(!safe)),
                "{tool}"
            );
        }
    }
}
