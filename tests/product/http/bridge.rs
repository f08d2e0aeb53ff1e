//! A client on stdio with a server on HTTP: what it receives, and what is on the tape.

use std::path::Path;
use std::process::Stdio;
use std::thread;

use serde_json::Value;
use tapewright_schemas::event::{CloseReason, Direction, EventBody};

use crate::support::http::tls::{Certificates, accept, alert};
use crate::support::http::{PATIENCE, Recorded, Seen, Strict, Upstream, find, json};
use crate::support::{Session, Tape, tapewright};

/// A bridge to a URL, with its tape in a folder.
fn bridge(folder: &Path, url: &str, options: &[&str]) -> Session {
    let mut command = tapewright();
    command
        .args(["record", "--upstream", url, "-o"])
        .arg(folder.join("run.tape.jsonl"))
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Session::start(command)
}

/// The error that a client gets for a call, and the exchanges on the tape.
fn error_of(url: &str) -> (Value, Vec<Recorded>) {
    let folder = tempfile::tempdir().unwrap();
    let mut client = bridge(folder.path(), url, &[]);
    client.send(r#"{"jsonrpc":"2.0","id":"a\"7","method":"tools/list"}"#);
    let line = client.line();
    let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
    assert_eq!(answer["jsonrpc"], "2.0", "{line}");
    assert_eq!(answer["id"], "a\"7", "{line}");
    assert!(answer.get("result").is_none(), "{line}");
    assert!(answer["error"]["code"].is_i64(), "{line}");
    assert_eq!(answer["error"]["data"]["origin"], "tapewright", "{line}");
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.starts_with("tapewright: "), "{line}");
    client.close_input();
    assert_eq!(client.line(), "", "one request, one answer");
    assert_eq!(client.finish(PATIENCE).code(), Some(0));
    let tape = Tape::read(&folder.path().join("run.tape.jsonl"));
    (answer["error"].clone(), tape.exchanges())
}

/// The same, with a server that answers so and closes the connection.
fn error_to(response: &str) -> (Value, Vec<Recorded>) {
    let upstream = Upstream::start();
    let url = format!("http://{}/mcp", upstream.address());
    let response = response.to_owned();
    let server = thread::spawn(move || {
        let mut wire = upstream.accept();
        let head = wire.head();
        wire.body(&head);
        wire.try_send(response).ok();
    });
    let heard = error_of(&url);
    server.join().unwrap();
    heard
}

#[test]
fn every_http_error_becomes_an_error_that_says_what_happened_and_what_to_do() {
    for (status, words) in [
        ("400 Bad Request", "another revision or transport"),
        ("401 Unauthorized", "--header-env Authorization=VARIABLE"),
        ("402 Payment Required", "402"),
        ("403 Forbidden", "lack permission"),
        ("404 Not Found", "not that of an MCP endpoint"),
        ("405 Method Not Allowed", "transport"),
        ("406 Not Acceptable", "406"),
        ("407 Proxy Authentication Required", "a proxy in between"),
        ("408 Request Timeout", "try again"),
        ("409 Conflict", "409"),
        ("413 Content Too Large", "too long for it"),
        ("415 Unsupported Media Type", "transport"),
        ("429 Too Many Requests", "try again later"),
        ("302 Found", "use the URL that it names"),
        ("500 Internal Server Error", "check its log"),
        ("502 Bad Gateway", "check its log"),
        ("503 Service Unavailable", "check its log"),
        ("504 Gateway Timeout", "it timed out"),
        ("599 Whatever", "check its log"),
        ("204 No Content", "without a message"),
        ("202 Accepted", "without a message"),
    ] {
        let code: u64 = status[..3].parse().unwrap();
        let empty = if code == 204 {
            ""
        } else {
            "Content-Length: 0\r\n"
        };
        let bare = format!("HTTP/1.1 {status}\r\n{empty}\r\n");
        let page = json(status, "", "<h1>not { JSON</h1>");
        let oauth = json(status, "", "{\"error\":\"invalid_token\"}");
        let bodies = [bare, page, oauth];
        let shapes = if code == 204 { 1 } else { 3 };
        for response in &bodies[..shapes] {
            let (error, exchanges) = error_to(response);
            let said = error["message"].as_str().unwrap();
            assert!(said.contains(&status[..3]), "{status}: {said}");
            assert!(said.contains(words) || code < 300, "{status}: {said}");
            assert_eq!(error["data"]["status"], code, "{status}");
            assert_eq!(exchanges.len(), 1, "{status}");
            assert_eq!(
                u64::from(exchanges[0].response.as_ref().unwrap().status),
                code
            );
        }
    }
}

#[test]
fn an_answer_that_is_no_mcp_becomes_an_error() {
    let html =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<h1>Hello!</h1>";
    for (response, words) in [
        (html.to_owned(), "`text/html`"),
        (json("200 OK", "", "<h1>Hello!</h1>"), "not a JSON-RPC message"),
        (json("200 OK", "", "{\"hello\":1}"), "not a JSON-RPC message"),
        (json("200 OK", "", ""), "without a message"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}".to_owned(),
            "without a content type",
        ),
        (
            json("200 OK", "Content-Encoding: gzip\r\n", "\x1f"),
            "in the encoding `gzip`",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n\x0b\x02".to_owned(),
            "in the encoding `br`",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned(),
            "without a message",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"jsonrpc\"".to_owned(),
            "broke in the middle",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"jsonrpc\"".to_owned(),
            "closed the stream before it answered",
        ),
        (
            "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://example.com/mcp\r\nContent-Length: 0\r\n\r\n".to_owned(),
            "http://example.com",
        ),
        ("HTTP/1.1 2".to_owned(), "broke before the response"),
        ("SSH-2.0-x\r\n\r\n".to_owned(), "broke before the response"),
        (String::new(), "broke before the response"),
    ] {
        let (error, exchanges) = error_to(&response);
        let said = error["message"].as_str().unwrap();
        assert!(said.contains(words), "{response:?}: {said}");
        assert_eq!(exchanges.len(), 1, "{response:?}");
        assert!(exchanges[0].end(Direction::ToClient).is_some());
    }
    let (_, exchanges) = error_to(html);
    assert_eq!(
        exchanges[0].bodies(Direction::ToClient),
        ["<h1>Hello!</h1>"]
    );
}

#[test]
fn no_connection_and_no_tls_become_errors() {
    let gone = Upstream::start().address();
    let (error, exchanges) = error_of(&format!("http://{gone}/mcp"));
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("cannot connect to"), "{said}");
    assert!(exchanges[0].ours().starts_with("connection_failed: "));
    // A certificate that no known authority has signed.
    let certificates = Certificates::new();
    let config = certificates.server_config(&["http/1.1"]);
    let upstream = Upstream::start();
    let url = format!("https://localhost:{}/mcp", upstream.address().port());
    let server = thread::spawn(move || drop(accept(&upstream, &config)));
    let (error, exchanges) = error_of(&url);
    server.join().unwrap();
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("TLS handshake with localhost"), "{said}");
    assert!(
        exchanges[0]
            .ours()
            .starts_with("tls_not_accepted: localhost:")
    );
    // No TLS there at all.
    let upstream = Upstream::start();
    let url = format!("https://{}/mcp", upstream.address());
    let server = thread::spawn(move || {
        let mut wire = upstream.accept();
        wire.try_send("HTTP/1.1 400 Bad Request\r\n\r\n").ok();
    });
    let (error, _) = error_of(&url);
    server.join().unwrap();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("TLS handshake with")
    );
    // It refuses the connection, with a reason.
    let upstream = Upstream::start();
    let url = format!("https://localhost:{}/mcp", upstream.address().port());
    let server = thread::spawn(move || alert(&upstream, 116));
    let (error, exchanges) = error_of(&url);
    server.join().unwrap();
    let wanted = "the server sent the alert `certificate_required`";
    let said = error["message"].as_str().unwrap();
    assert!(said.contains(wanted), "{said}");
    let ours = exchanges[0].ours();
    assert!(ours.starts_with("tls_refused: localhost:"), "{ours}");
    assert!(ours.ends_with(": certificate_required"), "{ours}");
}

const SESSION: &str = "4711-canary-of-a-session";

/// A server with sessions, streams and events.
fn answer(seen: &Seen) -> Vec<u8> {
    let stream = |fields: &str, body: &str| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
        format!("{head}{fields}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let body = String::from_utf8_lossy(&seen.body);
    let said = if seen.head.line.starts_with("GET") {
        stream(
            "",
            ": hello\n\nid: g-1\nretry: 3600000\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n\n",
        )
    } else if seen.head.line.starts_with("DELETE") {
        "HTTP/1.1 204 No Content\r\n\r\n".to_owned()
    } else if body.contains("initialize\"") {
        stream(
            &format!("Mcp-Session-Id: {SESSION}\r\n"),
            "id: p-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{},\"logging\":{}},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n\n",
        )
    } else if body.contains("tools/list") {
        json(
            "503 Service Unavailable",
            "Retry-After: 9\r\n",
            "<h1>later</h1>",
        )
    } else {
        "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_owned()
    };
    said.into_bytes()
}

#[test]
fn heads_events_and_ids_of_a_bridge_are_on_the_tape() {
    let server = Strict::start(answer);
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/mcp?key=4711-canary-of-a-query", server.address());
    let options = [
        "--check",
        "--all",
        "--header",
        "Authorization: Bearer 4711-canary-of-a-token",
    ];
    let mut client = bridge(folder.path(), &url, &options);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#);
    assert!(client.line().contains("serverInfo"));
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(client.line().contains("notifications/message"));
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    assert!(client.line().contains("check its log"));
    assert_eq!(client.finish(PATIENCE).code(), Some(0));
    let path = folder.path().join("run.tape.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    assert!(
        find(&bytes, b"4711-canary").is_none(),
        "no secret is on the tape"
    );
    let done = tapewright().args(["inspect", "--json"]).arg(&path).output();
    let report: Value = serde_json::from_slice(&done.unwrap().stdout).unwrap();
    // A server over HTTP has no process whose status could be known.
    let ended = &report["ended"];
    assert_eq!(ended["exit_code"], Value::Null, "{ended:#}");
    assert_eq!(ended["complete"], true, "{ended:#}");
    let tape = Tape::read(&path);
    let exchanges = tape.exchanges();
    let line = |one: &Recorded| {
        let status = one.response.as_ref().unwrap().status;
        format!("{} {status}", one.request.method)
    };
    let lines: Vec<_> = exchanges.iter().map(line).collect();
    assert_eq!(
        lines,
        ["POST 200", "POST 202", "GET 200", "POST 503", "DELETE 204"]
    );
    for exchange in &exchanges {
        assert!(
            exchange.messages(Direction::ToClient).is_empty(),
            "they stand with the lines"
        );
        assert_eq!(
            exchange.end(Direction::ToServer),
            Some(CloseReason::EndOfInput)
        );
        assert_eq!(
            exchange.end(Direction::ToClient),
            Some(CloseReason::EndOfInput)
        );
        assert_eq!(exchange.request.target, "/mcp");
        assert_eq!(exchange.request.fields.get("authorization"), None);
    }
    let ids = |one: &Recorded| -> Vec<String> {
        one.notes()
            .iter()
            .filter_map(|note| note.id.clone())
            .collect()
    };
    assert_eq!(ids(&exchanges[0]), ["p-1"]);
    assert_eq!(ids(&exchanges[2]), ["g-1"]);
    let comments: Vec<_> = exchanges[2]
        .notes()
        .iter()
        .filter_map(|note| note.comment.clone())
        .collect();
    assert_eq!(comments, [" hello"]);
    assert_eq!(exchanges[3].bodies(Direction::ToClient), ["<h1>later</h1>"]);
    assert_eq!(
        exchanges[1].request.fields.get("mcp-protocol-version"),
        Some("2025-06-18")
    );
    assert_eq!(
        exchanges[0]
            .response
            .as_ref()
            .unwrap()
            .fields
            .get("content-type"),
        Some("text/event-stream")
    );
    // No peer is blamed for what the bridge does.
    assert!(
        !tape
            .events
            .iter()
            .any(|event| matches!(event.body, EventBody::Finding(_)))
    );
    let inspected = tapewright()
        .args(["inspect", "--json"])
        .arg(&path)
        .output()
        .unwrap();
    let shown: Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert_eq!(shown["http"]["exchanges"], 5, "{shown}");
    assert_eq!(shown["http"]["errors"][0]["status"], 503);
}
