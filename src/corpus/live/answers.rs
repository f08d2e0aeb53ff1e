//! Answers a server's requests to its client with just enough to continue.

use serde_json::{Map, Value, json};
use tapewright_corpus::rounds;
use tapewright_proxy::client::{Answer, ServerRequest};

use crate::command::init::arguments;

/// The capabilities of a client of the handshake revisions, as source text.
pub(super) const CAPABILITIES: &str =
    r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;

/// The capabilities that a client of the stateless revisions declares in each request (2026-07-28,
/// basic/index §_meta), as source text.
pub(super) const STATELESS: &str = r#"{"roots":{},"sampling":{},"elicitation":{"form":{}}}"#;

/// The answer to a request of a server.
pub(super) fn answer(asked: &ServerRequest<'_>) -> Answer {
    let params = asked
        .params
        .and_then(|params| serde_json::from_slice::<Value>(params).ok());
    match result(asked.method, params.as_ref()) {
        Some(result) => Answer::Result(result.to_string()),
        None => Answer::Default,
    }
}

/// The answers to the requests in a result, by name; unknown ones are left out.
pub(super) fn responses(wanted: &Map<String, Value>) -> Map<String, Value> {
    let answered = rounds::requests(wanted).filter_map(|(name, request)| {
        let method = request.get("method").and_then(Value::as_str)?;
        Some((name.clone(), result(method, request.get("params"))?))
    });
    answered.collect()
}

fn result(method: &str, params: Option<&Value>) -> Option<Value> {
    match method {
        "roots/list" => Some(json!({ "roots": [] })),
        "sampling/createMessage" => Some(json!({
            "role": "assistant",
            "content": { "type": "text", "text": "ok" },
            "model": "tapewright",
            "stopReason": "endTurn",
        })),
        "elicitation/create" => Some(elicited(params)),
        _ => None,
    }
}

/// What a person would fill in, if it can be made from the schema.
fn elicited(params: Option<&Value>) -> Value {
    let schema = params.and_then(|params| params.get("requestedSchema"));
    match schema.and_then(|schema| arguments::of(Some(schema))) {
        Some(content) => json!({ "action": "accept", "content": content }),
        None => json!({ "action": "decline" }),
    }
}
