//! What a server that asks its client gets: just enough to go on.

use serde_json::{Value, json};
use tapewright_proxy::client::{Answer, Asked};

use crate::command::init::arguments;

/// What a client of the handshake revisions offers here, as source text.
pub(super) const CAPABILITIES: &str =
    r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;

/// The answer to a request of a server.
pub(super) fn answer(asked: &Asked<'_>) -> Answer {
    let params = asked
        .params
        .and_then(|params| serde_json::from_slice::<Value>(params).ok());
    let result = match asked.method {
        "roots/list" => json!({ "roots": [] }),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "ok" },
            "model": "tapewright",
            "stopReason": "endTurn",
        }),
        "elicitation/create" => elicited(params.as_ref()),
        _ => return Answer::Default,
    };
    Answer::Result(result.to_string())
}

/// What a person would fill in, where it can be made from the schema.
fn elicited(params: Option<&Value>) -> Value {
    let schema = params.and_then(|params| params.get("requestedSchema"));
    match schema.and_then(|schema| arguments::of(Some(schema))) {
        Some(content) => json!({ "action": "accept", "content": content }),
        None => json!({ "action": "decline" }),
    }
}
