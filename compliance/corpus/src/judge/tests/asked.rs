//! Requests of a server to its client during a call.

use serde_json::{Value, json};
use tapewright_schemas::event::Direction;

use super::{answered, breaks, holds, untested};
use crate::observation::{Observation, Reply, SideMessage};
use crate::verdict::{Expectation, Untested};

fn asked(params: &Value, reply: Reply) -> Observation {
    let message = json!({ "id": "s", "method": "sampling/createMessage", "params": params });
    let dir = Direction::ToClient;
    Observation {
        between: vec![SideMessage { dir, message }],
        ..answered(reply)
    }
}

#[test]
fn the_parameters_of_what_is_asked_are_of_their_schema() {
    let schema =
        json!({ "required": ["messages"], "properties": { "messages": { "type": "array" } } });
    let wanted =
        json!({ "server_request": { "method": "sampling/createMessage", "schema": schema } });
    let result = || Reply::Result(json!({}));
    holds(&wanted, &asked(&json!({ "messages": [] }), result()));
    let wrong = asked(&json!({ "messages": 7 }), result());
    let place = (Expectation::ServerRequest, "/messages".to_owned());
    assert_eq!(breaks(&wanted, &wrong), place);
    let none = asked(&Value::Null, result());
    assert_eq!(untested(&wanted, &answered(result())), none_came());
    holds(
        &json!({ "server_request": { "method": "sampling/createMessage" } }),
        &none,
    );
}

#[test]
fn a_call_that_asks_nothing_is_no_test_of_what_is_asked() {
    let wanted = json!({ "server_request": { "method": "sampling/createMessage" }, "result": {} });
    assert_eq!(untested(&wanted, &answered(Reply::None)), none_came());
    let silent = asked(&json!({}), Reply::None);
    assert_eq!(breaks(&wanted, &silent).0, Expectation::Answer);
    holds(&wanted, &asked(&json!({}), Reply::Result(json!({}))));
}

fn none_came() -> Untested {
    Untested::NoneCame("sampling/createMessage".to_owned())
}
