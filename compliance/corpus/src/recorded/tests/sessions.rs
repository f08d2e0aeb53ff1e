//! Requests over HTTP, inside and outside a session that the server issued.

use serde_json::{Value, json};
use tapewright_schemas::event::{
    CloseReason, Direction, EventBody, Head, Peer, RequestHead, ResponseHead,
};

use super::Tape;
use crate::verdict::{Untested, Verdict};

const SESSION: &str = "mcp-session-id";
const VERSION: (&str, &str) = ("mcp-protocol-version", "2025-06-18");

/// One exchange: the fields of its request in addition to the common ones, and the response.
fn exchange(
    tape: &mut Tape,
    fields: &[(&str, &str)],
    asked: Value,
    status: u16,
    told: (&[(&str, &str)], Value),
) {
    let client = Peer::Client {
        connection: 1,
        address: String::new(),
    };
    tape.event(Direction::ToServer, EventBody::Opened(client));
    let every = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
    ];
    let request = RequestHead {
        method: "POST".into(),
        fields: every.iter().chain(fields).copied().collect(),
        ..RequestHead::default()
    };
    let head = EventBody::Head(Box::new(Head::Request(request)));
    tape.event(Direction::ToServer, head);
    tape.asks(asked);
    let response = ResponseHead {
        status,
        fields: told.0.iter().copied().collect(),
        ..ResponseHead::default()
    };
    let head = EventBody::Head(Box::new(Head::Response(response)));
    tape.event(Direction::ToClient, head);
    if !told.1.is_null() {
        tape.says(told.1);
    }
    let end = EventBody::Closed(CloseReason::EndOfInput);
    tape.event(Direction::ToClient, end);
}

/// A handshake, with a session or without, and a ping with these fields.
fn pinged(given: Option<&str>, fields: &[(&str, &str)], status: u16, answer: Value) -> Tape {
    let mut tape = Tape {
        events: Vec::new(),
        now: 0,
    };
    let hello =
        json!({ "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } });
    let answered =
        json!({ "id": 0, "result": { "protocolVersion": "2025-06-18", "capabilities": {} } });
    let id: Vec<_> = given.iter().map(|id| (SESSION, *id)).collect();
    exchange(&mut tape, &[], hello, 200, (&id, answered));
    let ping = json!({ "id": 1, "method": "ping" });
    let fields: Vec<_> = [VERSION].iter().chain(fields).copied().collect();
    exchange(&mut tape, &fields, ping, status, (&[], answer));
    tape
}

fn verdicts(tape: &Tape) -> Vec<Verdict> {
    tape.judged(&json!([
        { "call": { "method": "ping" }, "expect": { "result": {} } },
        { "call": { "method": "ping", "headers": { "Mcp-Session-Id": "" } }, "expect": { "headers": { ":status": "400" } } },
        { "call": { "method": "ping", "headers": { "Mcp-Session-Id": "x" } }, "expect": { "headers": { ":status": "404" } } },
    ]))
}

#[test]
fn what_is_asked_outside_of_a_session_is_judged_by_the_rules_about_that_alone() {
    let untested = || Verdict::Untested(Untested::NotAsked);
    let pong = json!({ "id": 1, "result": {} });
    let inside = pinged(Some("s-1"), &[(SESSION, "s-1")], 200, pong.clone());
    assert_eq!(verdicts(&inside), [Verdict::Pass, untested(), untested()]);
    let without = pinged(Some("s-1"), &[], 400, Value::Null);
    assert_eq!(verdicts(&without), [untested(), Verdict::Pass, untested()]);
    let unknown = pinged(Some("s-1"), &[(SESSION, "s-2")], 404, Value::Null);
    assert_eq!(verdicts(&unknown), [untested(), untested(), Verdict::Pass]);
    let served = pinged(Some("s-1"), &[(SESSION, "s-2")], 200, pong.clone());
    let found = verdicts(&served);
    assert!(matches!(found[2], Verdict::Fail(_)), "{found:?}");
}

#[test]
fn a_server_without_sessions_is_asked_without_one() {
    let pong = json!({ "id": 1, "result": {} });
    let tape = pinged(None, &[], 200, pong);
    assert_eq!(verdicts(&tape)[0], Verdict::Pass);
}

/// A session that its client deletes with this answer, and then a ping in it.
fn pinged_after_its_end(deleted: u16, status: u16, answer: Value) -> Tape {
    let pong = json!({ "id": 1, "result": {} });
    let mut tape = pinged(Some("s-1"), &[(SESSION, "s-1")], 200, pong);
    let request = RequestHead {
        method: "DELETE".into(),
        fields: [VERSION, (SESSION, "s-1")].into_iter().collect(),
        ..RequestHead::default()
    };
    let head = EventBody::Head(Box::new(Head::Request(request)));
    tape.event(Direction::ToServer, head);
    let response = ResponseHead {
        status: deleted,
        ..ResponseHead::default()
    };
    let head = EventBody::Head(Box::new(Head::Response(response)));
    tape.event(Direction::ToClient, head);
    let end = EventBody::Closed(CloseReason::EndOfInput);
    tape.event(Direction::ToClient, end);
    let fields = [VERSION, (SESSION, "s-1")];
    let asked = json!({ "id": 2, "method": "ping" });
    exchange(&mut tape, &fields, asked, status, (&[], answer));
    tape
}

#[test]
fn a_session_that_was_deleted_is_none_that_the_server_gave() {
    let pong = || json!({ "id": 2, "result": {} });
    let gone = verdicts(&pinged_after_its_end(204, 404, Value::Null));
    assert_eq!(gone[0], Verdict::Pass, "of the ping before");
    assert_eq!(gone[2], Verdict::Pass);
    let served = verdicts(&pinged_after_its_end(200, 200, pong()));
    assert!(matches!(served[2], Verdict::Fail(_)), "{served:?}");
    // A server need not allow a client to end its session.
    let kept = verdicts(&pinged_after_its_end(405, 200, pong()));
    assert_eq!(kept[0], Verdict::Pass);
    assert_eq!(kept[2], Verdict::Untested(Untested::NotAsked));
}
