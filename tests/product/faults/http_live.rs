//! Faults on event streams that stay open: a server's own messages, and answers that come on
//! another stream than that of their request.

use super::{PATIENCE, SESSION, begin_session, call, effects, told};
use crate::support::http::{Gateway, Upstream, Wire, chunk, json, pair, post, request};
use crate::support::{Tape, eventually};
use tapewright_schemas::event::{Direction, EventBody, Payload};

const NOTE: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}";
const CHANGED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";
const ASK: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"sampling/createMessage\",\"params\":{}}";
const REPLY: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"role\":\"assistant\"}}";
const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}";
// Not kept alive: the next exchange has a new connection.
const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";

fn event(message: &str) -> String {
    format!("data: {message}\n\n")
}

/// The messages of servers and the faults on a tape, in order.
fn said(tape: &Tape) -> Vec<String> {
    let mut all = Vec::new();
    for event in &tape.events {
        match &event.body {
            EventBody::Message {
                payload: Payload::Whole(text),
                ..
            } if event.dir == Direction::ToClient => {
                all.push(String::from_utf8(text.to_vec()).unwrap());
            }
            EventBody::Faulted(faulted) => all.push(told(&faulted.effect)),
            _ => {}
        }
    }
    all
}

fn is_told(gateway: &Gateway, what: &str) -> bool {
    eventually(PATIENCE, || {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.contains(what)
    })
}

/// A request that the server answers with a stream that stays open: the client's side of it, and
/// the server's.
fn opened(upstream: &Upstream, gateway: &Gateway, asked: &str) -> (Wire, Wire) {
    let mut client = gateway.connect();
    client.send(asked);
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(STREAM);
    assert_eq!(client.head().status(), 200);
    (client, server)
}

/// The stream for a server's own messages.
fn listening(upstream: &Upstream, gateway: &Gateway, target: &str) -> (Wire, Wire) {
    let fields = format!("Accept: text/event-stream\r\n{SESSION}");
    let asked = request(&format!("GET {target}"), gateway.address, &fields);
    opened(upstream, gateway, &asked)
}

/// A POST in the session that reaches the server, and the client's response to it.
fn posted(upstream: &Upstream, gateway: &Gateway, body: &str, response: &str) -> Wire {
    let mut client = gateway.connect();
    client.send(post(gateway.address, SESSION, body));
    let mut server = upstream.accept();
    let head = server.head();
    assert_eq!(String::from_utf8(server.body(&head)).unwrap(), body);
    server.send(response);
    client
}

fn accepted() -> String {
    json("202 Accepted", "Connection: close\r\n", "")
}

/// Asserts that this is the next part of a stream.
fn comes(client: &mut Wire, text: &str) {
    let came = client.chunks(text.len());
    assert_eq!(String::from_utf8_lossy(&came), text);
}

#[test]
fn what_comes_behind_a_held_answer_passes() {
    let (upstream, gateway) = pair(&["--fault", "hang tool=search"]);
    let asked = post(gateway.address, SESSION, &call(1, "search"));
    let (mut client, mut server) = opened(&upstream, &gateway, &asked);
    // All in one piece: each event is reported before the next is examined.
    let events = [NOTE, ANSWER, CHANGED, NOTE].map(event);
    server.send(chunk(events.concat()));
    comes(&mut client, &(event(NOTE) + &event(CHANGED) + &event(NOTE)));
    server.send(chunk(event(CHANGED)));
    comes(&mut client, &event(CHANGED));
    drop(client);
    assert!(is_told(
        &gateway,
        r#""fault":"hang-1","kind":"hang","did":"left""#
    ));
    let tape = gateway.stop();
    let said = said(&tape);
    let begin = [NOTE, ANSWER, "hang-1 (hang): held", CHANGED, NOTE];
    assert_eq!(said[..5], begin);
}

#[test]
fn what_a_server_says_of_its_own_accord_is_met() {
    for (fault, comes_of_it, effect) in [
        ("drop", String::new(), "dropped"),
        ("duplicate times=1", event(NOTE) + &event(NOTE), "repeated"),
        ("slow delay_ms=1", event(NOTE), "delayed"),
        (
            "garbage text=noise",
            "data: noise\n\n".to_owned() + &event(NOTE),
            "preceded",
        ),
    ] {
        let fault = format!("{fault} method=notifications/message dir=to_client");
        let (upstream, gateway) = pair(&["--fault", &fault]);
        let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
        server.send(chunk(event(NOTE)));
        comes(&mut client, &comes_of_it);
        server.send(chunk(event(CHANGED)));
        comes(&mut client, &event(CHANGED));
        drop((client, server));
        let tape = gateway.stop();
        let told = effects(&tape);
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with(effect), "{told:?}");
        assert_eq!(tape.messages(Direction::ToClient), [NOTE, CHANGED]);
    }
}

#[test]
fn delayed_notifications_keep_their_order() {
    let fault = "latency latency_ms=20 jitter_ms=20 method=notifications/* dir=to_client";
    let (upstream, gateway) = pair(&["--fault", fault, "--seed", "7"]);
    let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
    let events: String = (0..20)
        .map(|number| event(&NOTE.replace(":1}", &format!(":{number}}}"))))
        .collect();
    server.send(chunk(&events));
    comes(&mut client, &events);
    drop((client, server));
    assert_eq!(effects(&gateway.stop()).len(), 20);
}

#[test]
fn a_request_of_a_server_and_its_answer_are_met() {
    let on_request = "hang method=sampling/createMessage dir=to_client on=request";
    let (upstream, gateway) = pair(&["--fault", on_request]);
    let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
    server.send(chunk(event(ASK) + &event(NOTE)));
    comes(&mut client, &event(NOTE));
    drop((client, server));
    assert!(is_told(
        &gateway,
        r#""fault":"hang-1","kind":"hang","did":"left""#
    ));
    gateway.stop();

    let on_answer = "drop method=sampling/createMessage dir=to_client";
    let (upstream, gateway) = pair(&["--fault", on_answer]);
    let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
    server.send(chunk(event(ASK)));
    comes(&mut client, &event(ASK));
    let mut poster = gateway.connect();
    poster.send(post(gateway.address, SESSION, REPLY));
    assert_eq!(poster.head().status(), 202);
    assert_eq!(upstream.waiting(), 0, "the reply is kept from the server");
    drop(client);
    let tape = gateway.stop();
    assert_eq!(effects(&tape), ["drop-1 (drop): dropped"]);
    assert_eq!(tape.messages(Direction::ToServer), [REPLY]);
}

#[test]
fn an_answer_is_met_on_the_stream_that_carries_the_session() {
    let fault = "error tool=search code=-5 message=down";
    let (upstream, gateway) = pair(&["--fault", fault]);
    let mut client = gateway.connect();
    let accept = "Accept: text/event-stream\r\n";
    client.send(request("GET /sse", gateway.address, accept));
    let mut server = upstream.accept();
    server.head();
    server.send(STREAM);
    assert_eq!(client.head().status(), 200);
    let endpoint = "event: endpoint\ndata: /message?s=7\n\n";
    server.send(chunk(endpoint));
    comes(&mut client, endpoint);
    let mut poster = gateway.connect();
    let body = call(1, "search");
    let fields = format!(
        "Content-Type: application/json\r\nContent-Length: {}\r\n",
        body.len()
    );
    poster.send(request("POST /message?s=7", gateway.address, &fields) + &body);
    let mut peer = upstream.accept();
    let head = peer.head();
    peer.body(&head);
    peer.send(accepted());
    assert_eq!(
        poster.head().status(),
        202,
        "what was posted is not at fault"
    );
    server.send(chunk(event(ANSWER)));
    let error = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-5,\"message\":\"down\"}}";
    comes(&mut client, &event(error));
    // A second answer to the same request is not its answer.
    server.send(chunk(event(ANSWER)));
    comes(&mut client, &event(ANSWER));
    drop((client, server));
    let mut gateway = gateway;
    gateway.signal("TERM");
    let tape = gateway.ended();
    assert_eq!(effects(&tape).len(), 1);
    let mut export = crate::support::tapewright();
    let export = export.args(["export", "run.tape.jsonl", "--as", "cassette"]);
    let done = export.current_dir(gateway.folder.path()).output().unwrap();
    let written = String::from_utf8(done.stdout).unwrap();
    assert!(
        written.contains(r#""fault":"error-1","kind":"error","did":"replaced""#),
        "{written}"
    );
    assert!(
        written.contains("\"n\":1"),
        "the true answer is kept: {written}"
    );
}

#[test]
fn an_answer_that_is_fetched_on_another_stream_is_met() {
    let (upstream, gateway) = pair(&["--fault", "drop tool=search"]);
    begin_session(&upstream, &gateway);
    let asked = post(gateway.address, SESSION, &call(1, "search"));
    let (client, mut server) = opened(&upstream, &gateway, &asked);
    server.send(chunk("id: 1\ndata:\n\n"));
    server.send("0\r\n\r\n");
    drop(client);
    let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
    server.send(chunk(event(ANSWER) + &event(NOTE)));
    comes(&mut client, &event(NOTE));
    drop((client, server));
    assert_eq!(effects(&gateway.stop()), ["drop-1 (drop): dropped"]);
}

#[test]
fn an_open_stream_is_silent_while_its_session_is_wedged() {
    let fault = "timeout tool=search timeout_ms=10000";
    let (upstream, gateway) = pair(&["--fault", fault]);
    let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
    server.send(chunk(event(NOTE)));
    comes(&mut client, &event(NOTE));
    let response = json("200 OK", "Connection: close\r\n", ANSWER);
    let mut held = posted(&upstream, &gateway, &call(1, "search"), &response);
    assert!(is_told(&gateway, "\"did\":\"held_all\""));
    server.send(chunk(event(CHANGED)));
    assert!(is_told(&gateway, "\"did\":\"behind\""));
    // It ends with the session.
    client.ends();
    let (came, _) = held.rest();
    assert_eq!(String::from_utf8_lossy(&came), "");
    let tape = gateway.stop();
    assert_eq!(tape.messages(Direction::ToClient).len(), 3);
}

#[test]
fn a_stream_that_was_open_before_the_fault_is_met() {
    let folder = tempfile::tempdir().unwrap();
    let control = format!("unix:{}", folder.path().join("control").display());
    let (upstream, gateway) = pair(&["--control", &control]);
    let (mut client, mut server) = listening(&upstream, &gateway, "/mcp");
    // The fault comes in the middle of an event, which is not examined any more.
    let note = event(NOTE);
    let (begin, end) = note.split_at(30);
    server.send(chunk(begin));
    comes(&mut client, begin);
    let fault = |words: &[&str]| {
        let mut command = crate::support::tapewright();
        let command = command.arg("fault").args(words);
        let done = command.args(["--control", &control]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    fault(&["add", "hang method=notifications/message dir=to_client"]);
    server.send(chunk(end.to_owned() + &event(NOTE) + &event(CHANGED)));
    comes(&mut client, &(end.to_owned() + &event(CHANGED)));
    fault(&["remove", "hang-1"]);
    comes(&mut client, &event(NOTE));
    server.send(chunk(event(NOTE)));
    comes(&mut client, &event(NOTE));
    drop((client, server));
    let tape = gateway.stop();
    let told = effects(&tape);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1] == "hang-1 (hang): released", "{told:?}");
}

#[test]
fn two_requests_of_one_id_in_flight_are_each_met() {
    let (upstream, gateway) = pair(&["--fault", "error tool=search code=-5 message=down"]);
    let asked = || {
        let mut client = gateway.connect();
        client.send(post(gateway.address, SESSION, &call(1, "search")));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        (client, server)
    };
    for (mut client, mut server) in [asked(), asked()] {
        server.send(json("200 OK", "Connection: close\r\n", ANSWER));
        let head = client.head();
        let body = String::from_utf8(client.body(&head)).unwrap();
        assert!(body.contains("\"code\":-5"), "{body}");
    }
    assert_eq!(effects(&gateway.stop()).len(), 2);
}

#[test]
fn what_is_delayed_comes_at_once_when_we_are_to_end() {
    let slow = "slow tool=search delay_ms=3600000";
    let (upstream, mut gateway) = pair(&["--fault", slow]);
    let response = json("200 OK", "Connection: close\r\n", ANSWER);
    let mut plain = posted(&upstream, &gateway, &call(1, "search"), &response);
    let asked = post(gateway.address, SESSION, &call(1, "search"));
    let (mut streamed, mut server) = opened(&upstream, &gateway, &asked);
    server.send(chunk(event(ANSWER)));
    server.send("0\r\n\r\n");
    let delayed = || {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.matches("\"by_us\":3600000000").count() == 2
    };
    assert!(eventually(PATIENCE, delayed));
    gateway.signal("TERM");
    let head = plain.head();
    assert_eq!(plain.body(&head), ANSWER.as_bytes());
    comes(&mut streamed, &event(ANSWER));
    let tape = gateway.ended();
    let told = effects(&tape).join("\n");
    assert_eq!(told.matches("slow-1 (slow): released").count(), 2, "{told}");
}

/// A call that the server answers with a stream, and the client with a status in its place.
fn refused(upstream: &Upstream, gateway: &Gateway) -> (Wire, Wire) {
    let mut client = gateway.connect();
    client.send(post(gateway.address, SESSION, &call(1, "search")));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(STREAM);
    let head = client.head();
    assert_eq!(head.status(), 503);
    client.body(&head);
    (client, server)
}

#[test]
fn a_status_takes_the_place_of_a_stream_at_once() {
    let (upstream, gateway) = pair(&["--fault", "http-status status=503"]);
    let (_client, mut server) = refused(&upstream, &gateway);
    // The stream continues after it, and is recorded.
    server.send(chunk(event(NOTE) + &event(ANSWER)));
    assert!(is_told(&gateway, "\"did\":\"answered\",\"status\":503"));
    server.send("0\r\n\r\n");
    let told = [NOTE, ANSWER, "http-status-1 (http-status): answered"];
    assert_eq!(said(&gateway.stop()), told);
}

#[test]
fn a_status_in_place_of_an_answer_that_never_came_is_told() {
    let (upstream, gateway) = pair(&["--fault", "http-status status=503"]);
    let (_client, _server) = refused(&upstream, &gateway);
    let told = ["http-status-1 (http-status): answered"];
    assert_eq!(said(&gateway.stop()), told);
}
