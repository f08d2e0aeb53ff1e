//! Faults on messages from clients to a server over HTTP.

use super::{PATIENCE, call, effects};
use crate::support::eventually;
use crate::support::http::{Gateway, Upstream, chunk, json, pair, post, request};
use tapewright_schemas::event::Direction;

const CANCELLED: &str =
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}";

fn is_told(gateway: &Gateway, what: &str) -> bool {
    let told = || {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.contains(what)
    };
    eventually(PATIENCE, told)
}

/// A call that passes: the next that the server sees.
fn passes(upstream: &Upstream, gateway: &Gateway, body: &str) {
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", body));
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(String::from_utf8(server.body(&head)).unwrap(), body);
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}";
    server.send(json("200 OK", "Connection: close\r\n", answer));
    let head = client.head();
    assert_eq!(head.status(), 200);
    client.body(&head);
}

#[test]
fn a_dropped_notification_is_accepted_and_never_reaches_the_server() {
    let fault = "drop method=notifications/cancelled";
    let (upstream, gateway) = pair(&["--fault", fault]);
    let mut client = gateway.connect();
    let expects = "Expect: 100-continue\r\n";
    for fields in ["", expects] {
        client.send(post(gateway.address, fields, CANCELLED));
        let mut head = client.head();
        if head.status() == 100 {
            head = client.head();
        }
        assert_eq!(head.status(), 202);
        assert_eq!(client.body(&head), b"");
    }
    assert_eq!(upstream.waiting(), 0);
    passes(&upstream, &gateway, &call(2, "find"));
    let tape = gateway.stop();
    assert_eq!(effects(&tape), ["drop-1 (drop): dropped"; 2]);
    let sent = tape.messages(Direction::ToServer);
    assert_eq!(sent, [CANCELLED, CANCELLED, &call(2, "find")]);
}

#[test]
fn a_dropped_request_is_never_answered() {
    let (upstream, gateway) = pair(&["--fault", "drop tool=search on=request"]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", &call(1, "search")));
    assert!(is_told(
        &gateway,
        r#""fault":"drop-1","kind":"drop","did":"dropped""#
    ));
    passes(&upstream, &gateway, &call(2, "find"));
    assert!(!client.has_bytes());
    drop(client);
    assert!(is_told(
        &gateway,
        r#""fault":"drop-1","kind":"drop","did":"left""#
    ));
    assert_eq!(upstream.waiting(), 0);
    gateway.stop();
}

#[test]
fn a_request_can_be_held_and_delayed() {
    let hang = "hang tool=search on=request";
    let slow = "slow tool=find on=request delay_ms=1";
    let (upstream, gateway) = pair(&["--fault", hang, "--fault", slow]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", &call(1, "search")));
    assert!(is_told(
        &gateway,
        r#""fault":"hang-1","kind":"hang","did":"held""#
    ));
    passes(&upstream, &gateway, &call(2, "find"));
    assert_eq!(upstream.waiting(), 0);
    drop(client);
    assert!(is_told(
        &gateway,
        r#""fault":"hang-1","kind":"hang","did":"left""#
    ));
    let tape = gateway.stop();
    assert!(effects(&tape).contains(&"slow-1 (slow): delayed".to_owned()));
}

#[test]
fn a_request_that_is_too_long_to_be_held_passes() {
    let options = ["--fault", "hang", "--max-message", "1000"];
    let (upstream, gateway) = pair(&options);
    let long = call(2, &"x".repeat(100_000));
    passes(&upstream, &gateway, &long);
    gateway.stop();
}

#[test]
fn a_request_streams_while_only_answers_are_at_fault() {
    let (upstream, gateway) = pair(&["--fault", "hang tool=search"]);
    let mut client = gateway.connect();
    let fields = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    client.send(request("POST /mcp", gateway.address, fields));
    let body = call(2, "find");
    let (begin, end) = body.split_at(20);
    client.send(chunk(begin));
    let mut server = upstream.accept();
    server.head();
    assert_eq!(server.chunks(begin.len()), begin.as_bytes());
    client.send([chunk(end), chunk("")].concat());
    assert_eq!(server.chunks(end.len()), end.as_bytes());
    drop((client, server));
    gateway.stop();
}
