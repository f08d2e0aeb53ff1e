//! No payload and no secret is in a log, at any level, and no text of a peer controls anything
//! there.

use std::process::{Command, Stdio};

use super::{Folder, LIMIT, PONG};
use crate::support::http::{Gateway, Strict, json, post};
use crate::support::{Session, tapewright};

const CANARY: &str = "canary-7Qx4";

/// Text that would control a terminal or a CI, or forge a line.
const HOSTILE: &str = "x\u{1b}[31m\u{9b}\u{202e}\n2026-11-24T00:00:00Z ERROR ##[add-mask]";

fn check(text: &str) {
    assert!(text.lines().count() > 5, "{text}");
    assert!(!text.contains(CANARY), "{text}");
    let raw = |char: char| char.is_control() && char != '\n' || char == '\u{202e}';
    assert!(!text.contains(raw) && !text.contains("##["), "{text:?}");
    let begins = |line: &str| line.starts_with("{\"time\":\"20") || line.get(19..20) == Some(".");
    assert!(text.lines().all(begins), "{text}");
}

#[test]
fn nothing_that_a_message_says_is_logged() {
    for format in ["text", "json"] {
        let folder = Folder::new();
        let hostile = serde_json::to_string(HOSTILE).unwrap();
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{CANARY}"}}]}}}}"#
        );
        let script = format!("while read line; do echo '{answer}'; echo '{CANARY}' >&2; done");
        let logged = folder.logged_as(format, "trace");
        let mut command = tapewright();
        command
            .arg("record")
            .args(&logged)
            .args(["-o", &folder.file("s.json"), "--check"]);
        command
            .args(["--", "sh", "-c", &script, CANARY])
            .env("SOME_TOKEN", CANARY);
        let mut session = pipes(command);
        for call in [
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{CANARY}","arguments":{{"a":"{CANARY}"}}}}}}"#
            ),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":{hostile},"params":{{"{CANARY}":1}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":"{CANARY}","method":"ping"}}"#),
            format!("no json {CANARY}"),
        ] {
            session.send(&call);
            session.line();
        }
        session.finish(LIMIT);
        let log = std::fs::read_to_string(folder.file("log")).unwrap();
        check(&log);
        assert!(log.contains("tools/call"), "{log}");
        // Including a miss of a replay.
        let mut command = tapewright();
        command
            .args(["replay", &folder.file("s.json")])
            .args(&logged)
            .env("SOME_TOKEN", CANARY);
        let mut session = pipes(command);
        session.send(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":{hostile},"params":{{"a":"{CANARY}"}}}}"#
        ));
        session.line();
        session.send(&format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"{CANARY}"}}"#
        ));
        session.line();
        session.finish(LIMIT);
        let log = std::fs::read_to_string(folder.file("log")).unwrap();
        check(&log);
        assert_eq!(
            log.matches(" missed ").count() + log.matches("\"missed\",").count(),
            2,
            "{log}"
        );
    }
}

/// With pipes for its standard streams.
fn pipes(mut command: Command) -> Session {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    Session::start(command)
}

#[test]
fn no_header_query_or_user_of_a_url_is_logged() {
    let server =
        Strict::start(|_| json("200 OK", &format!("X-Note: {CANARY}\r\n"), PONG).into_bytes());
    let folder = Folder::new();
    let logged = folder.logged("trace");
    let mut options: Vec<&str> = logged.iter().map(String::as_str).collect();
    let header = format!("X-Key: {CANARY}");
    options.extend(["--header", &header]);
    let url = format!("http://{}/mcp?key={CANARY}", server.address());
    let gateway = Gateway::to_url(&url, &options);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":"{CANARY}"}}}}"#);
    for (fields, status) in [
        (
            format!("Authorization: Bearer {CANARY}\r\nMcp-Session-Id: {CANARY}\r\n"),
            200,
        ),
        (format!("Origin: http://{CANARY}.example\r\n"), 403),
    ] {
        let mut client = gateway.connect();
        let text = post(gateway.address, &fields, &body);
        client.send(text.replace("POST /mcp ", &format!("POST /mcp?token={CANARY} ")));
        let head = client.head();
        client.body(&head);
        assert_eq!(head.status(), status);
    }
    gateway.stop();
    let log = std::fs::read_to_string(folder.file("log")).unwrap();
    check(&log);
    assert!(log.contains("\"url\":\"/mcp\""), "{log}");
}
