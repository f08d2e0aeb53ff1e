//! Sessions of 2025-03-26 to 2025-11-25.

use crate::client::INITIALIZE;
use crate::fake::{Fake, plain};
use crate::front_server::FrontServer;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;

#[test]
fn a_session_has_a_server_of_its_own_from_initialize_to_delete() {
    let fake = plain("2025-11-25", |_, _| false);
    let front_server = FrontServer::of(fake.clone());
    let mut one = front_server.http();
    let mut two = front_server.http();
    let first = one.open();
    let second = two.open();
    assert_ne!(first, second);
    assert!(first.trim_end().len() >= "Mcp-Session-Id: ".len() + 32);
    assert_eq!(fake.started(), 2);
    let (head, body) = one.post(
        &format!("{first}MCP-Protocol-Version: 2025-11-25\r\n"),
        CALL,
    );
    assert_eq!(head.status, 200);
    assert_eq!(head.get("content-type"), Some("application/json"));
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // Any connection may carry any session.
    assert_eq!(one.post(&second, CALL).0.status, 200);
    assert_eq!(one.ask("DELETE /mcp", &first, "").0.status, 204);
    assert_eq!(fake.ended.next(), 1);
    assert_eq!(one.post(&first, CALL).0.status, 404);
    assert_eq!(one.ask("DELETE /mcp", &first, "").0.status, 404);
    assert_eq!(two.post(&second, CALL).0.status, 200);
}

#[test]
fn a_body_reaches_the_server_as_one_line_with_nothing_else_changed() {
    let fake = plain("2025-11-25", |_, _| false);
    let front_server = FrontServer::of(fake.clone());
    let mut http = front_server.http();
    let session = http.open();
    fake.next();
    fake.next();
    http.post(
        &session,
        "{\n \"jsonrpc\":\"2.0\",\r\n\"id\":1e0, \"method\":\"x\",\"y\":1e400}\n",
    );
    assert_eq!(
        fake.next().1,
        r#"{  "jsonrpc":"2.0",  "id":1e0, "method":"x","y":1e400}"#
    );
}

#[test]
fn messages_before_the_answer_make_a_stream_with_ids() {
    let fake = plain("2025-11-25", |out, line| {
        if line.contains("tools/call") {
            out.say(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}"#);
            out.say(r#"{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{}}"#);
            return true;
        }
        if line.contains("\"id\":5") {
            out.say(r#"{"jsonrpc":"2.0","id":1,"result":{"asked":true}}"#);
            return true;
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":9}}}"#;
    http.begin_post(&session, call);
    let head = http.head();
    assert_eq!(head.get("content-type"), Some("text/event-stream"));
    assert_eq!(head.get("x-accel-buffering"), Some("no"));
    assert_eq!(http.event().unwrap(), "id: 2-0\nretry: 1000\ndata:");
    assert!(http.event().unwrap().starts_with(
        "event: message\nid: 2-1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\""
    ));
    assert!(http.event().unwrap().contains("elicitation/create"));
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{"action":"accept"}}"#;
    let (head, body) = front_server.http().post(&session, answer);
    assert_eq!((head.status, body.as_str()), (202, ""));
    assert_eq!(
        http.data().unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"asked":true}}"#
    );
    assert_eq!(http.event(), None, "the stream ends with the answer");
}

#[test]
fn clients_of_older_revisions_are_not_primed() {
    let fake = plain("2025-06-18", |out, line| {
        if line.contains("tools/call") {
            out.say(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    http.begin_post(&session, CALL);
    http.head();
    assert!(
        http.event()
            .unwrap()
            .starts_with("event: message\nid: 2-1\n")
    );
}

#[test]
fn many_requests_at_once_each_get_their_own_answer() {
    let fake = plain("2025-11-25", |_, _| false);
    let front_server = FrontServer::of(fake);
    let session = front_server.http().open();
    let clients: Vec<_> = (0..8)
        .map(|client| {
            let (mut http, session) = (front_server.http(), session.clone());
            std::thread::spawn(move || {
                for number in 0..20 {
                    let id = format!("\"{client}-{number}\"");
                    let ask = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
                    let (head, body) = http.post(&session, &ask);
                    assert_eq!(head.status, 200);
                    assert_eq!(
                        body,
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
                    );
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
}

#[test]
fn a_session_that_the_server_refuses_never_begins() {
    let fake = Fake::new(|out, _| {
        out.say(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Unsupported protocol version"}}"#);
    });
    let front_server = FrontServer::of(fake.clone());
    let (head, body) = front_server.http().post("", INITIALIZE);
    assert_eq!(head.status, 400);
    assert_eq!(head.get("mcp-session-id"), None);
    assert!(body.contains("-32602"));
    assert_eq!(fake.ended.next(), 1);
}

#[test]
fn a_batch_is_answered_as_a_stream_or_as_an_array() {
    let fake = plain("2025-03-26", |out, line| {
        if line.starts_with('[') {
            for id in ["1", "2"] {
                out.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            }
            return true;
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    let batch =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let (head, body) = http.post(&session, batch);
    assert_eq!(head.get("content-type"), Some("text/event-stream"));
    assert_eq!(body.matches("\"result\"").count(), 2);
    let only_json = "Content-Type: application/json\r\nAccept: application/json\r\n";
    let (_, body) = http.ask("POST /mcp", &format!("{only_json}{session}"), batch);
    assert_eq!(
        body,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]"#
    );
    let notes = r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#;
    assert_eq!(http.post(&session, notes).0.status, 202);
}

#[test]
fn a_client_that_takes_only_one_form_gets_that_form() {
    let fake = plain("2025-11-25", |out, line| {
        if line.contains("tools/call") {
            out.say(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
        }
        false
    });
    let front_server = FrontServer::of(fake);
    let mut http = front_server.http();
    let session = http.open();
    let json = "Content-Type: application/json\r\n";
    let (head, body) = http.ask(
        "POST /mcp",
        &format!("{json}Accept: application/json\r\n{session}"),
        CALL,
    );
    assert_eq!(head.get("content-type"), Some("application/json"));
    assert_eq!(body, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let (head, body) = http.ask(
        "POST /mcp",
        &format!("{json}Accept: text/event-stream\r\n{session}"),
        ping,
    );
    assert_eq!(head.get("content-type"), Some("text/event-stream"));
    assert!(body.contains(r#"data: {"jsonrpc":"2.0","id":2,"result":{}}"#));
}
