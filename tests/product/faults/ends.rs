//! Faults that are never released, when the peers leave.

use std::process::Stdio;
use std::time::Duration;

use super::{call, effects};
use crate::replay::replay_server::{ReplayServer, listening};
use crate::replay::{cassette, opening};
use crate::support::http::post;
use crate::support::{Session, Tape, eventually, peer, record, tapewright};

const PATIENCE: Duration = Duration::from_secs(60);

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

#[test]
fn a_stall_ends_with_its_client_and_passes_on_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("run.tape.jsonl");
    let log = folder.path().join("log");
    let peer = peer();
    let options = [
        "-o",
        tape.to_str().unwrap(),
        "--fault",
        "stdin-stall tool=search",
    ];
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut session = Session::start(record(&options, &server));
    session.send(&call(1, "search"));
    session.send(&call(2, "find"));
    assert_eq!(session.finish(PATIENCE).code(), Some(0));
    let tape = Tape::read(&tape);
    let effects = effects(&tape);
    assert!(
        effects.iter().any(|one| one.contains("stdin-stall")),
        "{effects:?}"
    );
    let answered = std::fs::read_to_string(&log).unwrap();
    for id in ["\"id\":1}", "\"id\":2}"] {
        assert!(answered.contains(id), "{answered}");
    }
}

/// Sends the handshake to an HTTP server, waits until a fault has affected it, and ends the server.
fn ends_although_it_is_held(replay_server: ReplayServer, tape: &std::path::Path) {
    let mut wire = replay_server.connect();
    wire.send(post(replay_server.address, ACCEPT, INITIALIZE));
    let met = || std::fs::read_to_string(tape).is_ok_and(|text| text.contains("\"faulted\""));
    assert!(eventually(PATIENCE, met));
    // It must end by itself; how, the fault decides.
    replay_server.stop("TERM");
}

#[test]
fn who_waits_behind_http_for_what_was_cut_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--fault", "timeout method=initialize timeout_ms=1"];
    let replay_server = ReplayServer::start(folder.path(), &cassette(&[opening()]), &options);
    let mut wire = replay_server.connect();
    wire.send(post(replay_server.address, ACCEPT, INITIALIZE));
    let head = wire.head();
    let body = String::from_utf8(wire.body(&head)).unwrap();
    assert!(body.contains("the server has ended"), "{body}");
    replay_server.stop("TERM");
}

#[test]
fn a_server_behind_http_ends_under_any_fault_that_holds() {
    for fault in [
        "stdin-stall",
        "hang",
        "wedged",
        "reset",
        "timeout timeout_ms=1",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("run.tape.jsonl");
        let fault = format!("{fault} method=initialize");
        let words = [
            "record",
            "--listen",
            "127.0.0.1:0",
            "--drain-timeout",
            "0.01",
            "-o",
            tape.to_str().unwrap(),
            "--fault",
            &fault,
            "--",
            peer().to_str().unwrap(),
            "answer",
            folder.path().join("log").to_str().unwrap(),
        ]
        .map(str::to_owned);
        let mut command = tapewright();
        command.args(words).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        ends_although_it_is_held(listening(&mut command), &tape);
    }
}

#[test]
fn a_replay_behind_http_ends_under_any_fault_that_holds() {
    for fault in [
        "stdin-stall",
        "hang",
        "wedged",
        "reset",
        "timeout timeout_ms=1",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tape = folder.path().join("run.tape.jsonl");
        let fault = format!("{fault} method=initialize");
        let options = [
            "--drain-timeout",
            "0.01",
            "-o",
            tape.to_str().unwrap(),
            "--fault",
            &fault,
        ];
        let replay_server = ReplayServer::start(folder.path(), &cassette(&[opening()]), &options);
        ends_although_it_is_held(replay_server, &tape);
    }
}
