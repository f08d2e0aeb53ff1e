//! Recording the same session again: the file is the same, and with another answer, that answer is
//! the only difference.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::replay_server::{ACCEPT, INITIALIZE, ReplayServer, opened};
use super::{LIMIT, cassette, exchange, opening, progressing_call};
use crate::support::http::{Gateway, Head, Wire, post, request};
use crate::support::system::STOPPED;
use crate::support::{Session, tapewright};

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":1},"_meta":{"progressToken":"p"}}}"#;

/// The server's answers: two tools, and a call with progress.
fn server(second: &str, answer: &str) -> String {
    let tools = format!(
        r#"{{"tools":[{{"name":"echo","inputSchema":{{"type":"object"}}}},{{"name":"b","description":"{second}","inputSchema":{{"type":"object"}}}}]}}"#
    );
    let call = progressing_call(answer);
    cassette(&[opening(), exchange("tools/list", "{}", &tools), call])
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = tapewright();
    command
        .current_dir(folder)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The cassette of a session over stdio with that server.
fn recorded(folder: &Path, server: &str, options: &[&str]) -> String {
    std::fs::write(folder.join("server.json"), server).unwrap();
    let binary = env!("CARGO_BIN_EXE_tapewright");
    let words = [
        &["record", "-o", "fs.json"],
        options,
        &["--", binary, "replay", "server.json"],
    ];
    let mut session = Session::start(command(folder, &words.concat()));
    for (line, answers) in [(INITIALIZE, 1), (INITIALIZED, 0), (LIST, 1), (CALL, 2)] {
        session.send(line);
        for _ in 0..answers {
            session.line();
        }
    }
    assert_eq!(session.finish(LIMIT).code(), Some(0));
    std::fs::read_to_string(folder.join("fs.json")).unwrap()
}

/// The lines that differ between the two.
#[track_caller]
fn changed<'a>(before: &'a str, after: &'a str) -> Vec<(&'a str, &'a str)> {
    assert_eq!(
        before.lines().count(),
        after.lines().count(),
        "{before}\n{after}"
    );
    let lines = before.lines().zip(after.lines());
    lines.filter(|(one, other)| one != other).collect()
}

#[test]
fn a_session_recorded_twice_is_one_file_and_a_changed_answer_is_a_changed_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = recorded(folder, &server("old", "done"), &[]);
    assert!(first.contains("\"recorded_by\": \"tapewright\""), "{first}");
    assert_eq!(recorded(folder, &server("old", "done"), &[]), first);
    let answer = recorded(folder, &server("old", "failed"), &[]);
    let [(before, after)] = changed(&first, &answer)[..] else {
        panic!("{first}\n{answer}");
    };
    assert!(before.contains("\"done\"") && after.contains("\"failed\""));
    let tool = recorded(folder, &server("new", "done"), &[]);
    let [(before, after)] = changed(&first, &tool)[..] else {
        panic!("{first}\n{tool}");
    };
    assert!(before.contains("\"old\"") && after.contains("\"new\""));
    assert!(!before.contains("\"echo\""), "a tool has a line: {before}");
}

#[test]
fn a_cassette_without_times_replays_and_only_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    recorded(folder, &server("old", "done"), &[]);
    for (options, status) in [(&["--pace", "recorded"][..], 2), (&["--pace", "0.5"], 2)] {
        let words = [&["replay", "fs.json"], options].concat();
        let output = command(folder, &words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(
            said.contains("no times") && said.contains("--cassette-times"),
            "{said}"
        );
    }
    let mut session = Session::start(command(folder, &["replay", "fs.json", "--pace", "instant"]));
    session.send(INITIALIZE);
    session.line();
    session.send(LIST);
    let tools = session.line();
    // Recorded on one line.
    assert!(
        tools.contains(r#"{"type":"object"}},{"name":"b""#),
        "{tools}"
    );
    session.send(CALL);
    assert!(session.line().contains("notifications/progress"));
    assert!(session.line().contains("done"));
    assert_eq!(session.finish(LIMIT).code(), Some(0));
}

#[test]
fn times_are_written_when_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let timed = recorded(folder, &server("old", "done"), &["--cassette-times"]);
    let value: Value = serde_json::from_str(&timed).unwrap();
    assert!(value["meta"]["recorded_at"].is_string());
    assert!(value["exchanges"][2]["timing"]["took_ms"].is_number());
    let export = |words: &[&str]| {
        let words = [&["export", "fs.tape.jsonl", "--as", "cassette"], words].concat();
        let output = command(folder, &words).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(export(&["--cassette-times"]).contains("took_ms"));
    let plain = export(&[]);
    assert!(
        !plain.contains("_ms") && !plain.contains("recorded_at"),
        "{plain}"
    );
    // A cassette without them cannot show any.
    std::fs::write(folder.join("plain.json"), plain).unwrap();
    let words = [
        "export",
        "plain.json",
        "--as",
        "cassette",
        "--cassette-times",
    ];
    let output = command(folder, &words).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    // And a view of it shows no latency, and no zero either.
    let shown = |file: &str| {
        let output = command(folder, &["show", file, "--json"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let rows = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.filter(|row| row.get("method").is_some())
            .collect::<Vec<_>>()
    };
    let (with, without) = (shown("fs.tape.jsonl"), shown("plain.json"));
    assert!(with.len() >= 3 && with.len() == without.len());
    for (one, other) in with.iter().zip(&without) {
        assert_eq!(one["method"], other["method"]);
        assert!(one["waited_ms"].is_number());
        assert!(
            other["waited_ms"].is_null() && other["at_ms"].is_null(),
            "{other}"
        );
    }
}

/// The cassette of a session over HTTP with that server.
fn gateway(replay_server: &ReplayServer) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tapewright();
    command
        .args([
            "record",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            &replay_server.url,
        ])
        .arg("-o")
        .arg(folder.path().join("fs.json"));
    let mut gateway = Gateway::of(folder, &mut command);
    let mut wire = gateway.connect();
    let session = opened(gateway.address, &mut wire);
    let fields = format!("{ACCEPT}{session}MCP-Protocol-Version: 2025-11-25\r\n");
    for line in [INITIALIZED, LIST, CALL] {
        wire.send(post(gateway.address, &fields, line));
        let head = wire.head();
        assert!(head.status() < 300, "{}", head.line);
        rest(&mut wire, &head);
    }
    wire.send(request("DELETE /mcp", gateway.address, &session));
    let head = wire.head();
    rest(&mut wire, &head);
    drop(wire);
    gateway.signal("TERM");
    let ended = crate::support::wait(&mut gateway.child, LIMIT);
    assert_eq!(ended.code(), Some(STOPPED));
    std::fs::read_to_string(gateway.folder.path().join("fs.json")).unwrap()
}

/// Reads the body after a head.
fn rest(wire: &mut Wire, head: &Head) {
    if ["content-length", "transfer-encoding"]
        .iter()
        .any(|name| head.get(name).is_some())
    {
        wire.body(head);
    }
}

#[test]
fn over_http_it_is_one_file_whatever_the_ports_and_sessions_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let replay_server = ReplayServer::start(folder.path(), &server("old", "done"), &[]);
    let (first, second) = (gateway(&replay_server), gateway(&replay_server));
    assert!(
        first.contains("\"http\": {") && first.contains("\"done\""),
        "{first}"
    );
    assert_eq!(changed(&first, &second), []);
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
}
