//! The report behind `inspect`.

use serde_json::{Value, json};
use tapewright_schemas::event::{Direction, EventBody, LineEnd};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::summary::Fold;

use crate::support::{Script, complete, header};

fn report(script: &Script) -> Value {
    let mut fold = Fold::new(true);
    script.events.iter().for_each(|event| fold.observe(event));
    serde_json::to_value(fold.finish(FileKind::Tape, &header(), &complete())).unwrap()
}

#[test]
fn a_session_is_counted() {
    let script = Script::default()
        .c(r#"{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"}}}"#)
        .s(r#"{"id":0,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"2"}}}"#)
        .c(r#"{"method":"notifications/initialized"}"#)
        .c(r#"{"id":1,"method":"tools/call"}"#)
        .c(r#"{"id":2,"method":"tools/call"}"#)
        .s(r#"{"id":5,"method":"roots/list"}"#)
        .s(r#"{"id":2,"error":{"code":1}}"#)
        .s(r#"{"id":1,"result":{"isError":true}}"#)
        .c(r#"{"id":"x","method":"tools/list"}"#)
        .s("banner")
        .push(Direction::ToClient, EventBody::Stderr { line: "a".into(), end: LineEnd::Lf })
        .exited();
    let report = report(&script);
    assert_eq!(report["client"], json!({"name": "c", "version": "1"}));
    assert_eq!(report["server"], json!({"name": "s", "version": "2"}));
    assert_eq!(report["protocol_version"], "2025-06-18");
    assert_eq!(report["eras"], json!(["handshake"]));
    let calls = &report["methods"][1];
    assert_eq!(calls["method"], "tools/call");
    assert_eq!(
        (&calls["count"], &calls["errors"], &calls["tool_errors"]),
        (&json!(2), &json!(1), &json!(1))
    );
    assert_eq!(
        calls["delays"],
        json!({"p50_ms": 2.0, "p99_ms": 4.0, "max_ms": 4.0})
    );
    assert_eq!(report["unanswered_count"], 2);
    assert_eq!(
        report["unanswered"][0],
        json!({"method": "tools/list", "from": "client", "id": "x", "sent_ms": 9.0, "waited_ms": 3.0, "why": "peer gone"})
    );
    assert_eq!(report["unanswered"][1]["from"], "server");
    assert_eq!(report["noise"][0]["text"], "banner");
    assert_eq!(report["stderr_lines"], 1);
    assert_eq!(report["ended"]["exit_code"], 0);
}

#[test]
fn a_stateless_session_names_itself_in_every_request() {
    let request = r#"{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}"#;
    let response = r#"{"id":1,"result":{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"2"}}}}"#;
    let report = report(&Script::default().c(request).s(response));
    assert_eq!(report["client"]["name"], "c");
    assert_eq!(report["server"]["name"], "s");
    assert_eq!(report["protocol_version"], "2026-07-28");
    assert_eq!(report["eras"], json!(["stateless"]));
}
