//! What a cassette shows of a session, and what is missing in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::{failed, report, run, text, untested, verdicts};
use crate::compliance::{INITIALIZE, INITIALIZED, PING, PONG, RESULT, server};
use crate::support::{Session, record, tapewright};

/// The rules about lines on standard output: of every transport, and of stdio.
const LINES: [&str; 2] = ["PROTO-008", "TRANSPORT-001"];

/// Records a session with a server that answers a `ping` like this; the cassette.
fn recorded(folder: &Path, pong: &str) -> PathBuf {
    let cassette = folder.join("s.json");
    let newer = |text: &str| text.replace("2025-06-18", "2025-11-25");
    let opening = newer(RESULT);
    let script = server(&[(r#"\"initialize\""#, &opening), (r#"\"ping\""#, pong)]);
    let options = ["-o", text(&cassette)];
    let mut session = Session::start(record(&options, &["sh", "-c", &script]));
    session.send(&newer(INITIALIZE));
    assert_eq!(session.line(), opening);
    session.send(INITIALIZED);
    session.send(PING);
    session.line();
    assert!(session.finish(Duration::from_secs(60)).success());
    cassette
}

/// The report on a recording, and the exit status.
fn judged(recording: &Path) -> (Value, i32) {
    report(&["--capture", text(recording)])
}

#[test]
fn noise_in_a_cassette_is_found_as_on_its_tape() {
    let folder = tempfile::tempdir().expect("a folder");
    let cassette = recorded(folder.path(), &format!("{PONG}' 'listening"));
    let tape = cassette.with_extension("tape.jsonl");
    for file in [&cassette, &tape] {
        let (report, status) = judged(file);
        let failed = failed(&report);
        for rule in LINES {
            let why = failed.get(rule).map(String::as_str).unwrap_or_default();
            assert!(why.contains("listening"), "{rule}: {report:#}");
        }
        assert_eq!(status, 1, "{report:#}");
    }
}

#[test]
fn a_cassette_without_noise_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let (report, status) = judged(&recorded(folder.path(), PONG));
    let verdicts = verdicts(&report);
    for rule in LINES {
        assert_eq!(verdicts.get(rule), Some(&true), "{rule}: {report:#}");
    }
    assert_eq!(status, 0, "{report:#}");
}

#[test]
fn a_capture_does_not_show_lines_and_lacks_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let cassette = recorded(folder.path(), PONG);
    let capture = folder.path().join("s.capture.json");
    let words = ["export", text(&cassette), "--as", "capture", "-o"];
    let made = tapewright().args(words).arg(&capture).output();
    assert!(made.expect("it runs").status.success());
    let (report, status) = judged(&capture);
    let untested = untested(&report);
    for rule in LINES {
        let why = untested.get(rule).map(String::as_str).unwrap_or_default();
        assert!(why.contains("stdio or HTTP"), "{rule}: {report:#}");
    }
    assert_eq!(status, 0, "{report:#}");
}

/// A tape without its answer to a `ping`, which has a gap in its place, and no event after it.
fn with_a_gap(tape: &Path) -> PathBuf {
    let whole = fs::read_to_string(tape).expect("a tape");
    let lines: Vec<&str> = whole.lines().collect();
    let is_pong = |line: &&str| line.contains(r#""id":1,"result":{}"#);
    let at = lines.iter().position(is_pong).expect("the answer");
    let cut = tape.with_file_name("cut.tape.jsonl");
    fs::write(&cut, lines[..at].join("\n") + "\n").expect("a file");
    cut
}

#[test]
fn a_rule_whose_evidence_is_missing_is_inconclusive_and_so_is_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let cassette = recorded(folder.path(), PONG);
    let tape = with_a_gap(&cassette.with_extension("tape.jsonl"));
    let short = folder.path().join("cut.json");
    let words = ["export", text(&tape), "--as", "cassette", "-o"];
    let made = tapewright().args(words).arg(&short).output();
    assert!(made.expect("it runs").status.code().is_some());
    assert!(short.exists());
    for file in [&tape, &short] {
        let (report, status) = judged(file);
        let rows = report["untested"].as_array().expect("rows");
        let missing = rows.iter().filter(|row| row["inconclusive"] == true);
        let missing: Vec<&str> = missing.filter_map(|row| row["rule_id"].as_str()).collect();
        assert!(!missing.is_empty(), "{report:#}");
        assert_eq!(status, 3, "{report:#}");
        let output = run(&["--capture", text(file)]);
        let said = String::from_utf8(output.stdout).expect("text");
        let list = format!("; inconclusive: {}\n", missing.join(", "));
        for part in [
            "  INCONCLUSIVE  ",
            "\n      the evidence has a gap\n",
            "inconclusive, because evidence is missing",
            &list,
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let github = run(&["--capture", text(file), "--format", "github"]);
        let github = String::from_utf8(github.stdout).expect("text");
        assert!(github.contains("::warning "), "{github}");
    }
}
