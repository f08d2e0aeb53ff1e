//! `replay --otlp`, and a cassette that `record --mode` plays.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Collector, LIMIT, attribute, exported, sorted};
use crate::replay::{call, opening};
use crate::support::http::{Gateway, post};
use crate::support::{Session, tapewright};

/// A cassette with a session of two calls.
fn cassette(folder: &Path) {
    let exchanges = [opening(), call("1", "one"), call("2", "two")].join(",");
    let text = format!(r#"{{"version":"1","exchanges":[{exchanges}]}}"#);
    std::fs::write(folder.join("fs.json"), text).unwrap();
}

/// A command that plays it and sends traces.
fn command(folder: &Path, collector: &Collector, arguments: &[&str]) -> Command {
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let mut command = tapewright();
    command
        .args(arguments)
        .args(["--otlp", &collector.url()])
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
        .env("TMPDIR", scratch)
        .current_dir(folder);
    command
}

fn messages() -> Vec<Value> {
    let call = |id: u64, text: u64| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": text}}});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    // The last was never recorded.
    vec![begin, call(1, 1), call(2, 2), call(3, 9)]
}

fn over_lines(mut command: Command) {
    // The test controls its input and output.
    let mut session = Session::start({
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command
    });
    for message in messages() {
        session.send(&message.to_string());
        let answer: Value = serde_json::from_str(&session.line()).unwrap();
        assert_eq!(answer["id"], message["id"]);
    }
    session.finish(LIMIT);
}

/// Checks the spans of the four requests, and of the session.
fn is_whole(spans: &[Value]) {
    assert_eq!(spans.len(), 5, "{spans:?}");
    let calls: Vec<&Value> = spans
        .iter()
        .filter(|span| span["name"] == "tools/call echo")
        .collect();
    assert_eq!(calls.len(), 3);
    let failed = calls.iter().filter(|span| span["status"]["code"] == 2);
    assert_eq!(failed.count(), 1, "what was missed is an error: {calls:?}");
    assert!(
        calls
            .iter()
            .all(|span| attribute(span, "mcp.protocol.version") == Some("2025-11-25"))
    );
}

#[test]
fn what_is_replayed_is_traced_with_and_without_a_recording_of_it() {
    let folder = tempfile::tempdir().unwrap();
    cassette(folder.path());
    for output in [&["-o", "again.tape.jsonl"][..], &[]] {
        let collector = Collector::good();
        let arguments = [&["replay", "fs.json"], output].concat();
        over_lines(command(folder.path(), &collector, &arguments));
        let spans = sorted(collector.spans());
        is_whole(&spans);
        if !output.is_empty() {
            assert_eq!(
                spans,
                sorted(exported(folder.path(), "again.tape.jsonl", &[]))
            );
        }
        let left = std::fs::read_dir(folder.path().join("scratch")).unwrap();
        assert_eq!(left.count(), 0, "nothing is left of what nobody wanted");
    }
}

#[test]
fn a_gateway_that_replays_is_traced() {
    let folder = tempfile::tempdir().unwrap();
    cassette(folder.path());
    let collector = Collector::good();
    let arguments = ["replay", "fs.json", "--listen", "127.0.0.1:0"];
    let mut command = command(folder.path(), &collector, &arguments);
    let mut gateway = Gateway::of(folder, &mut command);
    let mut client = gateway.connect();
    let mut id = String::new();
    for message in messages() {
        client.send(post(gateway.address, &id, &message.to_string()));
        let head = client.head();
        if let Some(given) = head.get("mcp-session-id") {
            id = format!("Mcp-Session-Id: {given}\r\n");
        }
        client.body(&head);
    }
    gateway.signal("TERM");
    crate::support::wait(&mut gateway.child, LIMIT);
    let spans = sorted(collector.spans());
    let calls = spans
        .iter()
        .filter(|span| span["name"] == "tools/call echo");
    assert_eq!(calls.count(), 3, "{spans:?}");
    assert!(
        spans
            .iter()
            .all(|span| attribute(span, "network.transport") == Some("tcp"))
    );
}

#[test]
fn a_cassette_that_is_played_in_a_servers_place_is_traced() {
    let folder = tempfile::tempdir().unwrap();
    cassette(folder.path());
    let collector = Collector::good();
    let arguments = ["record", "--mode", "once", "-o", "fs.json"];
    let mut command = command(folder.path(), &collector, &arguments);
    command.args(["--", "false"]);
    over_lines(command);
    is_whole(&collector.spans());
}

#[test]
fn a_replay_with_its_secrets_is_sent_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    cassette(folder.path());
    let collector = Collector::good();
    let arguments = ["replay", "fs.json", "--no-redact"];
    let output = command(folder.path(), &collector, &arguments).output();
    let output = output.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("omit `--no-redact` or `--otlp`"), "{said}");
    assert_eq!(collector.spans(), Vec::<Value>::new());
}
