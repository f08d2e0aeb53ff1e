//! What never reached a server, or never came back from one, is on the tape and in the log.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tapewright_schemas::event::{CloseReason, Direction, InPlace};

use crate::support::http::tls::{Certificates, connect};
use crate::support::http::{
    Gateway, PATIENCE, Recorded, Upstream, Wire, chunk, post, request, tunnel,
};
use crate::support::{Session, eventually, tapewright};

const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

/// The options for a log in a folder.
fn logged(folder: &Path) -> [String; 4] {
    let log = folder.join("log").to_str().unwrap().to_owned();
    [
        "--log".to_owned(),
        log,
        "--log-format".to_owned(),
        "json".to_owned(),
    ]
}

/// The lines of a log with this event.
fn lines(folder: &Path, event: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("log")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &Value| line["event"] == event)
        .collect()
}

/// What `show` prints of a tape.
fn shown(tape: &Path) -> String {
    let output = tapewright().arg("show").arg(tape).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The beginning of an answer that is never finished.
fn beginning(framing: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n");
    let part = if framing.contains("chunked") {
        chunk(": a\n\n")
    } else {
        b"{".to_vec()
    };
    [head.into_bytes(), part].concat()
}

const FRAMINGS: [&str; 2] = [
    "Content-Type: application/json\r\nContent-Length: 100",
    "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked",
];

#[test]
fn a_server_that_breaks_off_in_the_middle_is_in_the_log() {
    for framing in FRAMINGS {
        let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
        let options = logged(folder.path());
        let gateway = Gateway::to(upstream.address(), &options.each_ref().map(String::as_str));
        let mut client = gateway.connect();
        client.send(post(gateway.address, "", CALL));
        let mut server = upstream.accept();
        let head = server.head();
        server.body(&head);
        server.send(beginning(framing));
        client.head();
        drop(server);
        client.rest();
        let tape = gateway.tape();
        let mut gateway = gateway;
        gateway.signal("TERM");
        gateway.ended();
        let failed = lines(folder.path(), "server_failed");
        assert_eq!(failed.len(), 1);
        assert_eq!(failed[0]["why"], "broken");
        assert!(shown(&tape).contains("server gone"), "{}", shown(&tape));
    }
}

#[test]
fn a_server_without_a_process_does_not_exit_in_the_log() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
    let url = format!("http://{}/mcp", upstream.address());
    let options = logged(folder.path());
    let options = options.each_ref().map(String::as_str);
    let mut command = tapewright();
    command.args(["record", "--upstream", &url]).args(options);
    command.arg("-o").arg(folder.path().join("run.json"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut session = Session::start(command);
    session.send(CALL);
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    server.send(beginning(FRAMINGS[1]));
    drop(server);
    assert!(session.line().contains("-32000"));
    session.finish(Duration::from_secs(30));
    assert_eq!(lines(folder.path(), "server_failed").len(), 1);
    assert!(lines(folder.path(), "server_exited").is_empty());
}

#[test]
fn a_call_of_a_server_that_is_down_is_on_the_tape_with_our_answer() {
    let down = Upstream::start().address();
    let gateway = Gateway::to(down, &[]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", CALL));
    assert_eq!(client.head().status(), 502);
    let tape = gateway.tape();
    let mut gateway = gateway;
    gateway.signal("TERM");
    let exchange = gateway.ended().only();
    assert_eq!(exchange.messages(Direction::ToServer), [CALL]);
    assert_eq!(exchange.in_place(), Some(InPlace::Unreachable));
    let shown = shown(&tape);
    assert!(
        shown.contains("ping") && shown.contains("HTTP 502"),
        "{shown}"
    );
}

#[test]
fn heads_that_cannot_be_read_are_on_the_tape_in_the_log_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let options = logged(folder.path());
    let options = options.each_ref().map(String::as_str);
    let options = [&options[..], &["--metrics", "127.0.0.1:0"]].concat();
    let gateway = Gateway::to(Upstream::start().address(), &options);
    let many = request("GET /mcp", gateway.address, &"X: 1\r\n".repeat(101));
    let long = request(
        "GET /mcp",
        gateway.address,
        &format!("X: {}\r\n", "x".repeat(70_000)),
    );
    let metrics = gateway.line["metrics"].as_str().unwrap();
    let address = metrics.split('/').nth(2).unwrap().parse().unwrap();
    let counted = |number: usize| {
        let mut client = Wire::connect(address);
        client.send(request("GET /metrics", address, ""));
        let head = client.head();
        let text = String::from_utf8(client.body(&head)).unwrap();
        text.contains(&format!("\ntapewright_refused_total {number}\n"))
    };
    let refused = [
        (many, 431),
        (long, 431),
        ("no HTTP\r\n\r\n".to_owned(), 400),
    ];
    for (before, (text, status)) in refused.into_iter().enumerate() {
        let mut client = gateway.connect();
        client.send(text);
        assert_eq!(client.head().status(), status);
        // It is recorded when the connection has ended, by its task.
        drop(client);
        assert!(eventually(PATIENCE, || counted(before + 1)));
    }
    let causes: Vec<_> = gateway
        .stop()
        .exchanges()
        .iter()
        .map(Recorded::ours)
        .collect();
    assert_eq!(
        causes,
        ["head_too_long", "head_too_long", "head_unreadable"]
    );
    assert_eq!(lines(folder.path(), "refused").len(), 3);
}

#[test]
fn a_client_that_does_not_trust_the_proxy_is_on_the_tape_and_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let options = logged(folder.path());
    let options = options.each_ref().map(String::as_str);
    let gateway = Gateway::forward(&[&options[..], &["--intercept"]].concat());
    let client = tunnel(&gateway, "localhost:443");
    let stranger = Certificates::new().client_config(&[]);
    assert!(connect(client.into_socket(), &stranger).is_err());
    // One that sends nothing has refused nothing.
    drop(tunnel(&gateway, "localhost:443"));
    let exchange = gateway.stop().only();
    assert_eq!(
        exchange.ours(),
        "client_tls: localhost: the client sent the alert `unknown_ca`"
    );
    assert_eq!(exchange.end(Direction::ToClient), Some(CloseReason::Failed));
    assert_eq!(lines(folder.path(), "refused")[0]["cause"], "client_tls");
}
