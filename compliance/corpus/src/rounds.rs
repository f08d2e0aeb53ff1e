//! Requests of a stateless server to its client: they are in its result, and repeating the request
//! answers them (2026-07-28, basic/patterns/mrtr).
//!
//! For a rule this is the same as a request of the server: the requested input, and the client's
//! answer, become messages next to the question.

use serde_json::{Map, Value, json};
use tapewright_schemas::event::Direction;
use tapewright_schemas::json::valid_member;

use crate::observation::{Reply, SideMessage};

/// The requests that may be answered this way.
pub const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

const RESPONSES: &str = "inputResponses";
const STATE: &str = "requestState";

/// The requests for input in a result, if there are any.
#[must_use]
pub fn required<'r>(method: &str, reply: &'r Reply) -> Option<&'r Map<String, Value>> {
    match reply {
        Reply::Result(Value::Object(result))
            if METHODS.contains(&method)
                && result.get("resultType").and_then(Value::as_str) == Some("input_required") =>
        {
            Some(result)
        }
        _ => None,
    }
}

/// Whether the source text of a result may ask for input: [`required`] decides whether it does.
#[must_use]
pub fn may_be_required(method: &str, result: Option<&[u8]>) -> bool {
    METHODS.contains(&method)
        && result
            .and_then(|result| valid_member(result, "resultType"))
            .is_some_and(|kind| kind == b"\"input_required\"" || kind.contains(&b'\\'))
}

/// The requests for input, by name.
pub fn requests(result: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let requests = result.get("inputRequests").and_then(Value::as_object);
    requests.into_iter().flatten()
}

/// The requests for input in a result, as messages of the server; `round` is the number of rounds
/// before it.
#[must_use]
pub fn asked(result: &Map<String, Value>, round: usize) -> Vec<SideMessage> {
    let message = |(name, request): (&String, &Value)| {
        let mut message = json!({ "jsonrpc": "2.0", "id": id(name, round) });
        for member in ["method", "params"] {
            if let (Some(value), Some(members)) = (request.get(member), message.as_object_mut()) {
                members.insert(member.to_owned(), value.clone());
            }
        }
        SideMessage {
            dir: Direction::ToClient,
            message,
        }
    };
    requests(result).map(message).collect()
}

/// The client's answers, as its messages; `round` is the number of earlier results that asked for
/// input.
#[must_use]
pub fn answered(params: &Map<String, Value>, round: usize) -> Vec<SideMessage> {
    let responses = params.get(RESPONSES).and_then(Value::as_object);
    let message = |(name, result): (&String, &Value)| SideMessage {
        dir: Direction::ToServer,
        message: json!({ "jsonrpc": "2.0", "id": id(name, round), "result": result }),
    };
    responses.into_iter().flatten().map(message).collect()
}

/// The parameters of a request that answers the requests in a result.
#[must_use]
pub fn again(
    params: Option<&Map<String, Value>>,
    result: &Map<String, Value>,
    responses: Map<String, Value>,
) -> Map<String, Value> {
    let mut params = params.cloned().unwrap_or_default();
    if result.contains_key("inputRequests") {
        params.insert(RESPONSES.to_owned(), Value::Object(responses));
    }
    if let Some(state) = result.get(STATE) {
        params.insert(STATE.to_owned(), state.clone());
    }
    params
}

/// Whether a request answers an earlier result that asked for input.
#[must_use]
pub fn is_again(method: &str, params: Option<&Map<String, Value>>) -> bool {
    let has =
        |params: &Map<String, Value>| params.contains_key(RESPONSES) || params.contains_key(STATE);
    METHODS.contains(&method) && params.is_some_and(has)
}

/// A text that is equal for a question and for its repetition.
#[must_use]
pub fn key(method: &str, params: Option<&Map<String, Value>>, state: Option<&Value>) -> String {
    let mut params = params.cloned().unwrap_or_default();
    for name in [RESPONSES, STATE, "_meta"] {
        params.remove(name);
    }
    let state = state.map(Value::to_string).unwrap_or_default();
    format!("{method} {state} {}", Value::Object(params))
}

/// The state that a result wants to get back, or that a request returns.
#[must_use]
pub fn state(members: &Map<String, Value>) -> Option<&Value> {
    members.get(STATE)
}

/// The same name may be used in every round.
fn id(name: &str, round: usize) -> String {
    format!("{round}/{name}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn only_a_result_that_says_so_asks_for_input() {
        let asks = Reply::Result(json!({ "resultType": "input_required", "requestState": "s" }));
        let whole = Reply::Result(json!({ "resultType": "complete", "content": [] }));
        assert!(required("tools/call", &asks).is_some());
        assert!(required("tools/list", &asks).is_none());
        assert!(required("tools/call", &whole).is_none());
        assert!(required("tools/call", &Reply::Error(json!({ "code": 1 }))).is_none());
    }

    #[test]
    fn the_request_that_answers_it_is_the_same_question() {
        let params = object(json!({ "name": "a", "arguments": {}, "_meta": { "x": 1 } }));
        let result = object(
            json!({ "inputRequests": { "who": { "method": "roots/list" } }, "requestState": "s" }),
        );
        let responses = object(json!({ "who": { "roots": [] } }));
        let again = again(Some(&params), &result, responses);
        assert_eq!(again.get("requestState"), Some(&json!("s")));
        assert!(is_again("tools/call", Some(&again)));
        assert!(!is_again("tools/call", Some(&params)));
        let before = key("tools/call", Some(&params), state(&result));
        assert_eq!(key("tools/call", Some(&again), state(&again)), before);
        let (asked, answered) = (asked(&result, 0), answered(&again, 0));
        assert_eq!(asked[0].message["method"], "roots/list");
        assert_eq!(asked[0].message["id"], answered[0].message["id"]);
        assert_eq!(answered[0].message["result"], json!({ "roots": [] }));
    }

    #[test]
    fn a_state_that_nobody_gave_is_not_given_back() {
        let result = object(json!({ "inputRequests": {} }));
        let again = again(None, &result, Map::new());
        assert_eq!(Value::Object(again), json!({ "inputResponses": {} }));
    }
}
