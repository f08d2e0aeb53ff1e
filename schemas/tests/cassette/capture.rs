//! The capture, as documented.

use serde_json::{Value, json};
use tapewright_schemas::recording::{Document, FileKind};

use crate::support::Script;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;

#[test]
fn a_session_is_one_object() {
    let script = Script::default()
        .c(INITIALIZE)
        .s(r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{ }}}}"#)
        .c(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .c(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#)
        .c(r#"{"jsonrpc":"2.0","id":3,"method":"never"}"#)
        .s(r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage"}"#)
        .s("noise")
        .s(r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#);
    let expected = json!({
        "server_label": "stdio://my-server",
        "server_capabilities": {"tools": {}},
        "exchanges": [
            {
                "request": {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
                "response": {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {"tools": {}}}},
            },
            {"request": {"jsonrpc": "2.0", "method": "notifications/initialized"}},
            {
                "request": {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
                "response": {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}},
            },
            {"request": {"jsonrpc": "2.0", "id": 3, "method": "never"}},
        ],
    });
    assert_eq!(script.capture(), expected);
}

#[test]
fn without_a_handshake_there_are_no_capabilities() {
    for answer in [
        r#"{"id":1,"error":{"code":-1,"message":"no"}}"#,
        r#"{"id":1,"result":{}}"#,
        "noise",
    ] {
        let capture = Script::default().c(INITIALIZE).s(answer).capture();
        assert_eq!(capture["server_capabilities"], Value::Null);
        assert_eq!(capture["exchanges"].as_array().unwrap().len(), 1);
    }
    assert_eq!(Script::default().capture()["exchanges"], json!([]));
}

#[test]
fn several_sessions_are_an_array() {
    let script = Script::default()
        .session(1)
        .c(INITIALIZE)
        .session(2)
        .c(INITIALIZE);
    let script = script
        .s(r#"{"id":1,"result":{"capabilities":2}}"#)
        .session(1);
    let capture = script
        .s(r#"{"id":1,"result":{"capabilities":1}}"#)
        .capture();
    assert_eq!(capture[0]["server_capabilities"], 1);
    assert_eq!(capture[1]["server_capabilities"], 2);
    assert_eq!(
        capture[1]["exchanges"][0]["response"]["result"]["capabilities"],
        2
    );
}

#[test]
fn a_late_answer_stays_in_its_session() {
    let pad = "y".repeat(300_000);
    let mut script = Script::default().session(1).c(INITIALIZE).session(2);
    for id in 0..40 {
        script = script
            .c(format!(r#"{{"id":{id},"method":"{pad}"}}"#))
            .s(format!(r#"{{"id":{id},"result":1}}"#));
    }
    let capture = script
        .session(1)
        .c(r#"{"id":5,"method":"b"}"#)
        .s(r#"{"id":1,"result":{}}"#)
        .capture();
    assert_eq!(
        capture[0]["exchanges"][0]["response"],
        json!({"id": 1, "result": {}})
    );
    assert_eq!(
        capture[0]["exchanges"][1],
        json!({"request": {"id": 5, "method": "b"}})
    );
    assert_eq!(capture[1]["exchanges"].as_array().unwrap().len(), 40);
}

#[test]
fn the_documented_example_is_read() {
    let text = r#"{
"server_label": "stdio://my-server",
"server_capabilities": { "tools": {} },
"exchanges": [
{ "request": { "jsonrpc": "2.0", "id": 1, "method": "initialize" }, "response": { "jsonrpc": "2.0", "id": 1, "result": {} } },
{ "request": { "jsonrpc": "2.0", "id": 2, "method": "tools/list" }, "response": null }
]
}"#;
    let Ok(Document::Capture(capture)) = Document::read(text) else {
        panic!()
    };
    let session = &capture.sessions[0];
    assert_eq!(session.label, "stdio://my-server");
    assert_eq!(
        session.capabilities.as_deref(),
        Some(&b"{ \"tools\": {} }"[..])
    );
    assert_eq!(session.exchanges[1].response, None);
    assert_eq!(Document::Capture(capture.clone()).kind(), FileKind::Capture);
    assert_eq!(capture.recording().events.len(), 3);
    let array = format!("[{text},{text}]");
    let Ok(Document::Capture(capture)) = Document::read(array) else {
        panic!()
    };
    assert_eq!(capture.sessions.len(), 2);
    assert_eq!(capture.recording().events[3].session.0, 1);
}
