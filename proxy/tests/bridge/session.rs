//! The handshake era: session, revision, order.

use std::sync::Arc;

use crate::server::{Reply, Request, Seen, Server};
use crate::talk::{INITIALIZE, INITIALIZED, Talk, WELCOME};

/// Handles requests that open a session; returns whether this was one.
pub(crate) fn welcomes(request: &Request, reply: &mut Reply) -> bool {
    if request.body.contains("\"initialize\"") {
        reply.whole(
            "200 OK",
            "Content-Type: application/json\r\nMcp-Session-Id: s-1\r\n",
            WELCOME,
        );
        return true;
    }
    if request.method == "POST" && !request.body.contains("\"id\"") {
        reply.whole("202 Accepted", "", "");
        return true;
    }
    if request.method == "GET" {
        reply.whole("405 Method Not Allowed", "", "");
        return true;
    }
    if request.method == "DELETE" {
        reply.whole("204 No Content", "", "");
        return true;
    }
    false
}

#[test]
fn a_session_is_begun_kept_and_ended() {
    let server = Server::start(|request, reply| {
        if !welcomes(request, reply) {
            reply.json("{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,\n  \"result\": {}\n}\n");
        }
    });
    let mut talk = Talk::with(&server.url("/mcp?x=1"));
    talk.begin();
    let call = r#"{"jsonrpc":"2.0", "id":1,"method":"ping" ,"extra":1e400}"#;
    talk.say(call);
    assert_eq!(
        talk.hear(),
        r#"{   "jsonrpc": "2.0",    "id": 1,   "result": {} }"#
    );
    talk.leave();
    talk.hears_the_end();
    talk.ends();

    let first = server.next();
    assert_eq!(
        (first.method.as_str(), first.path.as_str()),
        ("POST", "/mcp?x=1")
    );
    assert_eq!(first.body, INITIALIZE, "the line is the body");
    assert_eq!(
        first.header("accept"),
        Some("application/json, text/event-stream")
    );
    assert_eq!(first.header("content-type"), Some("application/json"));
    assert_eq!(first.header("mcp-session-id"), None);
    assert_eq!(first.header("mcp-protocol-version"), None);
    let rest = [server.next(), server.next(), server.next(), server.next()];
    for (request, (method, body)) in rest.iter().zip([
        ("POST", INITIALIZED),
        ("GET", ""),
        ("POST", call),
        ("DELETE", ""),
    ]) {
        assert_eq!(
            (request.method.as_str(), request.body.as_str()),
            (method, body)
        );
        assert_eq!(request.header("mcp-session-id"), Some("s-1"), "{method}");
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    assert_eq!(rest[1].header("accept"), Some("text/event-stream"));
    assert!(server.seen.is_empty());
}

#[test]
fn added_fields_are_on_every_request_and_win() {
    let server = Server::start(|request, reply| {
        welcomes(request, reply);
    });
    let fields = [("authorization", "Bearer x"), ("user-agent", "me/1")];
    let mut talk = Talk::with_fields(&server.url("/"), &fields);
    talk.begin();
    talk.leave();
    talk.ends();
    for _ in 0..4 {
        let request = server.next();
        assert_eq!(request.header("authorization"), Some("Bearer x"));
        assert_eq!(request.header("user-agent"), Some("me/1"));
    }
}

#[test]
fn nothing_overtakes_a_notification_and_requests_run_at_once() {
    let held = Arc::new(Seen::default());
    let go = Arc::new(Seen::default());
    let (tell, may) = (Arc::clone(&held), Arc::clone(&go));
    let server = Server::start(move |request, reply| {
        if request.body.contains("slow-note") {
            tell.push("note");
            may.next();
            reply.whole("202 Accepted", "", "");
        } else if request.body.contains("\"slow\"") {
            tell.push("slow");
            may.next();
            reply.json(r#"{"jsonrpc":"2.0","id":"slow","result":{}}"#);
        } else if request.body.contains("\"quick\"") {
            reply.json(r#"{"jsonrpc":"2.0","id":"quick","result":{}}"#);
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/slow-note"}"#);
    talk.say(r#"{"jsonrpc":"2.0","id":"slow","method":"x"}"#);
    talk.say(r#"{"jsonrpc":"2.0","id":"quick","method":"x"}"#);
    assert_eq!(held.next(), "note");
    assert!(held.is_empty(), "the call waits for the notification");
    go.push(());
    assert_eq!(held.next(), "slow");
    // The second request is answered while the first is still pending.
    assert!(talk.hear().contains("quick"));
    go.push(());
    assert!(talk.hear().contains("slow"));
}

#[test]
fn the_servers_requests_come_on_the_stream_and_are_answered_by_post() {
    let server = Server::start(|request, reply| {
        if request.body.contains("tools/call") {
            reply.stream();
            reply.event(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#);
            reply
                .event(r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{}}"#);
            reply.raw(": keep alive\n\n");
            reply.raw("event: message\r\nid: 7\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{}}\r\n\r\n");
            reply.close();
        } else if request.body.contains("\"result\"") {
            reply.whole("202 Accepted", "", "Accepted");
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#);
    assert!(talk.hear().contains("notifications/progress"));
    assert!(talk.hear().contains("sampling/createMessage"));
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"role":"assistant"}}"#;
    talk.say(answer);
    assert_eq!(talk.hear(), r#"{"jsonrpc":"2.0", "id":1,"result":{}}"#);
    for _ in 0..4 {
        server.next();
    }
    let posted = server.next();
    assert_eq!(posted.body, answer);
    assert_eq!(posted.header("mcp-session-id"), Some("s-1"));
    talk.leave();
    talk.hears_the_end();
}

#[test]
fn a_new_initialize_begins_a_new_session() {
    let server = Server::start(|request, reply| {
        if request.body.contains("\"gone\"") {
            reply.whole("404 Not Found", "", "");
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    talk.say(r#"{"jsonrpc":"2.0","id":"gone","method":"ping"}"#);
    let error = talk.hear();
    assert!(error.starts_with(r#"{"jsonrpc":"2.0","id":"gone","error":{"code":-32000,"message":"tapewright: the server answered 404 Not Found"#), "{error}");
    assert!(
        error.ends_with(r#""data":{"origin":"tapewright","status":404}}}"#),
        "{error}"
    );
    talk.begin();
    for _ in 0..4 {
        server.next();
    }
    assert_eq!(server.next().header("mcp-session-id"), None);
}

#[test]
fn a_batch_is_posted_as_one_body() {
    let server = Server::start(|request, reply| {
        if request.body.starts_with('[') {
            reply.json(
                r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#,
            );
        } else {
            welcomes(request, reply);
        }
    });
    let mut talk = Talk::with(&server.url("/mcp"));
    talk.begin();
    let batch =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    talk.say(batch);
    assert!(talk.hear().starts_with('['));
    talk.leave();
    talk.ends();
}
