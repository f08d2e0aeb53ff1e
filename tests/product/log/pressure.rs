//! A log that nobody reads slows nothing down, and says what it lost.

use std::io::Read as _;

use serde_json::Value;

use super::{ANSWER, Folder, LIMIT, PING, PONG, lines, names};
use crate::support::{Session, Tape, record};

/// How many messages: far more lines than a pipe and the queue hold together.
const CALLS: u64 = 2_000;

/// A session whose standard error is not read while it goes on; its tape and its log.
pub(super) fn unread() -> (Tape, Vec<Value>) {
    let folder = Folder::new();
    let tape = folder.file("s.tape.jsonl");
    let options = [
        "-o",
        &tape,
        "--log",
        "stderr",
        "--log-format",
        "json",
        "--log-filter",
        "trace",
    ];
    let mut session = Session::start(record(&options, &["sh", "-c", ANSWER]));
    let mut errors = session.child.stderr.take().unwrap();
    for _ in 0..CALLS {
        session.send(PING);
        assert_eq!(session.line(), PONG);
    }
    // Everything has passed by now, and nothing has been read.
    let mut text = String::new();
    let reader = std::thread::spawn(move || {
        errors.read_to_string(&mut text).unwrap();
        text
    });
    assert!(session.finish(LIMIT).success());
    let log = lines(&reader.join().unwrap());
    (Tape::read(tape.as_ref()), log)
}

#[test]
fn a_log_that_nobody_reads_slows_no_session_and_counts_what_it_lost() {
    let (tape, log) = unread();
    assert!(tape.is_complete());
    let lost: u64 = log.iter().filter_map(|line| line["lines"].as_u64()).sum();
    assert!(lost > 0, "{:?}", names(&log));
    let told = names(&log);
    assert_eq!(told.first(), Some(&"started"));
    assert_eq!(
        told.last(),
        Some(&"ended"),
        "what matters has room of its own"
    );
    // Two messages and an exchange for each call, and the beginning and the end.
    let of = |name: &str| told.iter().filter(|one| **one == name).count() as u64;
    assert_eq!(of("message") + of("exchange") + lost, 3 * CALLS);
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
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut session = Session::start(command);
    let errors = session.child.stderr.take().unwrap();
    for _ in 0..100 {
        session.send(PING);
        assert!(session.line().contains("\"id\":1"));
    }
    assert!(session.finish(LIMIT).success());
    let said = std::io::read_to_string(errors).unwrap();
    assert!(
        said.contains("lines of the log could not be written"),
        "{said}"
    );
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("tapewright::command started"), "{log}");
}

/// A cassette of one ping.
fn recorded(folder: &Folder) -> String {
    let output = folder.file("fs.json");
    let mut session = Session::start(record(&["-o", &output], &["sh", "-c", ANSWER]));
    session.send(PING);
    session.line();
    assert!(session.finish(LIMIT).success());
    output
}
