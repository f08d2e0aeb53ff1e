//! Faults on answers that come in event streams.

use super::{PATIENCE, call, effects};
use crate::support::http::{Gateway, Upstream, Wire, pair, post};
use crate::support::{eventually, tapewright};
use tapewright_schemas::event::Direction;

const ANSWER: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}";

/// A call that the server answers with these events, and then ends the stream.
fn streamed(upstream: &Upstream, gateway: &Gateway, events: &str) -> Wire {
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", &call(1, "search")));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    server.send(format!("{head}{events}"));
    client
}

/// What the client receives of these events with an active fault.
fn arrives(fault: &str, events: &str) -> String {
    let (upstream, gateway) = pair(&["--fault", fault]);
    let mut client = streamed(&upstream, &gateway, events);
    let head = client.head();
    assert_eq!(head.status(), 200, "{fault}");
    let text = String::from_utf8(client.body(&head)).unwrap();
    let tape = gateway.stop();
    assert_eq!(effects(&tape).len(), 1, "{fault}");
    let recorded = tape.messages(Direction::ToClient);
    assert_eq!(recorded.len(), 1, "{fault}: {recorded:?}");
    assert!(recorded[0].contains("\"n\":1"), "{fault}: {recorded:?}");
    text
}

#[test]
fn garbage_is_an_event_of_its_own() {
    let event = format!("id: 7\ndata: {ANSWER}\n\n");
    let text = arrives("garbage text='Listening on port 3000'", &event);
    assert_eq!(text, format!("data: Listening on port 3000\n\n{event}"));
}

#[test]
fn a_reset_after_the_answer_leaves_its_event_whole() {
    let (upstream, gateway) = pair(&["--fault", "reset at=after"]);
    let event = format!("data: {ANSWER}\r\n\r\n");
    let mut client = streamed(&upstream, &gateway, &format!("{event}: behind\n\n"));
    let head = client.head();
    assert_eq!(head.status(), 200);
    assert_eq!(client.chunks(event.len()), event.as_bytes());
    // No chunk marks the end of the body.
    client.ends();
}

#[test]
fn an_answer_is_met_however_its_event_is_written() {
    let split = "event: message\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\ndata:\"result\":{\"n\":1}}\n\n";
    let returns = format!("id: 7\rdata: {ANSWER}\r\r");
    for events in [split, &returns, &split.replace('\n', "\r\n")] {
        let text = arrives("error code=-5 message=down", events);
        let error =
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-5,\"message\":\"down\"}}";
        assert!(text.contains(error), "{events:?}: {text:?}");
        assert!(
            text.contains("id: 7") && !text.contains("\"n\""),
            "{text:?}"
        );
        let text = arrives("duplicate", events);
        assert_eq!(text.matches("\"n\":1").count(), 2, "{events:?}: {text:?}");
        assert_eq!(arrives("drop", events).trim_end(), "", "{events:?}");
        // Messages that are only delayed are unchanged.
        assert_eq!(arrives("slow delay_ms=1", events), *events);
    }
}

#[test]
fn an_answer_on_several_lines_is_held() {
    let events = "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{\"n\":1}}\n\n";
    let (upstream, gateway) = pair(&["--fault", "hang"]);
    let mut client = streamed(&upstream, &gateway, events);
    let told = || {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.contains(r#""fault":"hang-1","kind":"hang","did":"held""#)
    };
    assert!(eventually(PATIENCE, told));
    let head = client.head();
    assert_eq!(head.status(), 200);
    assert!(!client.has_bytes(), "the answer is held");
    drop(client);
    gateway.stop();
}

#[test]
fn what_comes_behind_half_an_event_is_read_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let control = format!("unix:{}", folder.path().join("c.sock").display());
    let fault = "hang name=f tool=search after_bytes=9";
    let (upstream, gateway) = pair(&["--fault", fault, "--control", &control]);
    let behind = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n";
    let events = format!("data: {ANSWER}\n\n{behind}: a comment\n\n");
    let mut client = streamed(&upstream, &gateway, &events);
    let head = client.head();
    let half = &events[.."data: ".len() + 9];
    assert_eq!(client.chunks(half.len()), half.as_bytes());
    let is_told = |what: &str| {
        let tape = std::fs::read_to_string(gateway.tape()).unwrap_or_default();
        tape.contains(what)
    };
    assert!(eventually(PATIENCE, || is_told("\"did\":\"behind\"")));
    let removed = tapewright()
        .args(["fault", "remove", "f", "--control", &control])
        .status();
    assert!(removed.unwrap().success());
    let rest = client.body(&head);
    assert_eq!(String::from_utf8(rest).unwrap(), events[half.len()..]);
    let tape = gateway.stop();
    assert_eq!(tape.messages(Direction::ToClient).len(), 2);
    let told = effects(&tape);
    for (told, what) in told.iter().zip(["held_amid", "behind", "released"]) {
        assert!(told.contains(what), "{told}");
    }
    assert_eq!(told.len(), 3, "one wait has one end: {told:?}");
}
