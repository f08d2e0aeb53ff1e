//! A log that is not read slows nothing down, and reports what it lost.

use std::io::Read as _;
use std::net::SocketAddr;
use std::process::Stdio;

use serde_json::Value;

use super::{ANSWER, Folder, LIMIT, PING, PONG, lines, names};
use crate::support::http::{Strict, Wire, json, post, request};
use crate::support::system::STOPPED;
use crate::support::{Session, Tape, eventually, record, tapewright};

/// The number of messages: far more lines than a pipe and the queue hold together.
const CALLS: usize = 2_000;

/// A gateway whose standard error is not read before lines are lost; returns how many calls it
/// served, and its log.
pub(super) fn unread() -> (usize, Vec<Value>) {
    let server = Strict::start(|_| json("200 OK", "", PONG).into_bytes());
    let folder = Folder::new();
    let tape = folder.file("s.tape.jsonl");
    let url = format!("http://{}/mcp", server.address());
    let mut command = tapewright();
    command.args(["record", "-o", &tape, "--upstream", &url]);
    command.args(["--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]);
    command.args([
        "--log",
        "stderr",
        "--log-format",
        "json",
        "--log-filter",
        "trace",
    ]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut session = Session::start(command);
    let mut errors = session.child.stderr.take().unwrap();
    let line: Value = serde_json::from_str(&session.line()).unwrap();
    let address = |name: &str| -> SocketAddr {
        let url = line[name].as_str().unwrap();
        url.split('/').nth(2).unwrap().parse().unwrap()
    };
    let (own, figures) = (address("listening"), address("metrics"));
    let (mut client, mut calls) = (Wire::connect(own), 0);
    let is_lost = || {
        for _ in 0..200 {
            client.send(post(own, "", PING));
            let head = client.head();
            assert_eq!(client.body(&head), PONG.as_bytes());
            calls += 1;
        }
        lost(figures) > 0
    };
    assert!(eventually(LIMIT, is_lost));
    drop(client);
    // Before the signal: under Wine, sending it takes longer than a recorder that ends waits for a reader.
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    session.signal("TERM");
    assert_eq!(session.finish(LIMIT).code(), Some(STOPPED));
    assert!(Tape::read(tape.as_ref()).is_complete());
    (calls, lines(&reader.join().unwrap()))
}

/// The number of lost lines, according to `--metrics`.
fn lost(figures: SocketAddr) -> u64 {
    let mut wire = Wire::connect(figures);
    wire.send(request("GET /metrics", figures, ""));
    let head = wire.head();
    let text = String::from_utf8(wire.body(&head)).unwrap();
    let name = "tapewright_log_lost_lines_total ";
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.expect("a figure").parse().unwrap()
}

#[test]
fn a_log_that_nobody_reads_slows_no_session_and_counts_what_it_lost() {
    let (calls, log) = unread();
    let told = names(&log);
    let count: u64 = log.iter().filter_map(|line| line["lines"].as_u64()).sum();
    assert!(count > 0, "{told:?}");
    assert_eq!(told.first(), Some(&"started"));
    assert_eq!(
        told.last(),
        Some(&"ended"),
        "what matters has room of its own"
    );
    // Two messages and two exchanges for each call.
    let chatter = ["message", "exchange", "http_exchange"];
    let kept = told.iter().filter(|one| chatter.contains(one)).count();
    assert_eq!(kept as u64 + count, 4 * calls as u64);
}

#[test]
fn a_session_ends_though_its_log_is_never_read() {
    let folder = Folder::new();
    let tape = folder.file("s.tape.jsonl");
    let options = ["-o", &tape, "--log", "stderr", "--log-filter", "trace"];
    let mut session = Session::start(record(&options, &["sh", "-c", ANSWER]));
    let errors = session.child.stderr.take().unwrap();
    for _ in 0..CALLS {
        session.send(PING);
        assert_eq!(session.line(), PONG);
    }
    assert!(session.finish(LIMIT).success());
    drop(errors);
    assert!(Tape::read(tape.as_ref()).is_complete());
}

#[cfg(unix)]
#[test]
fn a_log_without_a_place_stops_nothing_and_is_noted() {
    let folder = Folder::new();
    let log = folder.file("log");
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "ulimit -f 8; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_tapewright"),
    ]);
    command.args([
        "replay",
        &recorded(&folder),
        "--log",
        &log,
        "--log-filter",
        "trace",
    ]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut session = Session::start(command);
    let errors = session.child.stderr.take().unwrap();
    for _ in 0..100 {
        session.send(PING);
        assert!(session.line().contains("\"id\":1"));
    }
    assert!(session.finish(LIMIT).success());
    let said = std::io::read_to_string(errors).unwrap();
    assert!(said.contains("lines of the log were lost"), "{said}");
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("tapewright::command started"), "{log}");
}

/// A cassette with one ping.
#[cfg(unix)]
fn recorded(folder: &Folder) -> String {
    let output = folder.file("fs.json");
    let mut session = Session::start(record(&["-o", &output], &["sh", "-c", ANSWER]));
    session.send(PING);
    session.line();
    assert!(session.finish(LIMIT).success());
    output
}
