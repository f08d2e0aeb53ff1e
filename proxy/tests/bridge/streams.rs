//! Streams that end and are resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::server::{Seen, Server};
use crate::session::welcomes;
use crate::talk::Talk;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"late":true}}"#;

#[test]
fn a_polled_stream_is_taken_up_after_the_servers_pause() {
    let times = AtomicUsize::new(0);
    let server = Server::start(move |request, reply| {
        let again = request.header("last-event-id").map(str::to_owned);
        if request.body == CALL {
            // Primed, with a retry time, and closed (2025-11-25).
            reply.stream();
            reply.raw("id: a-0\nretry: 30\ndata:\n\n");
            reply.close();
        } else if let Some(last) = again {
            reply.stream();
            if times.fetch_add(1, Ordering::SeqCst) == 0 {
                assert_eq!(last, "a-0");
                reply.raw(
                    "id: a-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n",
                );
            } else {
                assert_eq!(last, "a-1");
                reply.raw(&format!("id: a-2\ndata: {ANSWER}\n\n"));
            }
            reply.close();
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    for _ in 0..3 {
        server.next();
    }
    talk.say(CALL);
    assert!(talk.hear().contains("notifications/message"));
    assert_eq!(talk.hear(), ANSWER);
    assert_eq!(server.next().body, CALL);
    for last in ["a-0", "a-1"] {
        let resumed = server.next();
        assert_eq!(resumed.method, "GET");
        assert_eq!(resumed.header("last-event-id"), Some(last));
        assert_eq!(resumed.header("mcp-session-id"), Some("s-1"));
    }
    talk.leave();
    talk.ends();
}

#[test]
fn a_stream_that_cannot_be_resumed_loses_its_request() {
    let server = Server::start(|request, reply| {
        if request.body == CALL {
            reply.stream();
            reply.event(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
            reply.close();
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(CALL);
    assert!(talk.hear().contains("notifications/message"));
    assert_eq!(
        talk.hear(),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"tapewright: the server closed the stream before it answered","data":{"origin":"tapewright"}}}"#
    );
}

#[test]
fn a_server_that_does_not_resume_loses_the_request_too() {
    let server = Server::start(|request, reply| {
        if request.body == CALL {
            reply.stream();
            reply.raw("id: 1\nretry: 1\ndata:\n\n");
            reply.close();
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(CALL);
    assert!(talk.hear().contains("closed the stream"));
}

#[test]
fn the_server_speaks_unasked_on_the_get_stream_which_is_kept_open() {
    let times = AtomicUsize::new(0);
    let server = Server::start(move |request, reply| {
        if request.method == "GET" {
            reply.stream();
            if times.fetch_add(1, Ordering::SeqCst) == 0 {
                reply.raw("retry: 20\nid: g-1\ndata: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"roots/list\"}\n\n");
                reply.close();
            } else {
                reply.event(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                reply.until_closed();
            }
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    assert!(talk.hear().contains("roots/list"));
    assert!(talk.hear().contains("list_changed"));
    for (method, last) in [
        ("POST", None),
        ("POST", None),
        ("GET", None),
        ("GET", Some("g-1")),
    ] {
        let request = server.next();
        assert_eq!(request.method, method);
        assert_eq!(request.header("last-event-id"), last);
    }
    talk.leave();
    assert_eq!(server.next().method, "DELETE");
    talk.ends();
}

#[test]
fn a_cancelled_request_of_a_session_is_told_and_not_answered_by_us() {
    let cancelled = Arc::new(Seen::default());
    let may = Arc::clone(&cancelled);
    let server = Server::start(move |request, reply| {
        if request.body == CALL {
            reply.stream();
            may.next();
            reply.close();
        } else if request.body.contains("\"id\":2") {
            reply.json(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    for _ in 0..3 {
        server.next();
    }
    talk.say(CALL);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    // On two connections either could be read first.
    assert_eq!(server.next().body, CALL);
    talk.say(cancel);
    assert_eq!(server.next().body, cancel);
    cancelled.push(());
    talk.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert!(talk.hear().contains("\"id\":2"));
    talk.leave();
    talk.hears_the_end();
}

#[test]
fn a_message_longer_than_we_carry_is_an_error_of_ours() {
    let server = Server::start(|request, reply| {
        let long = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{}"}}}}"#,
            "x".repeat(9 << 20)
        );
        if request.body == CALL {
            reply.stream();
            reply.event(&long);
            reply.close();
        } else if request.body.contains("\"id\":2") {
            reply.json(&long);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(CALL);
    let first = talk.hear();
    assert!(
        first.contains("response is too long") && first.contains("\"id\":1"),
        "{first}"
    );
    talk.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    let second = talk.hear();
    assert!(
        second.contains("response is too long") && second.contains("\"id\":2"),
        "{second}"
    );
}
