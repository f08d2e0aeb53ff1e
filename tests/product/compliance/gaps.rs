//! Gaps of a tape are reported on standard error, and verdicts that depend on them are
//! inconclusive.

use serde_json::Value;

use super::{INITIALIZE, INITIALIZED, PING, PONG, RESULT, server};
use crate::support::{Session, record, tapewright};

/// The lines of a tape of one session.
fn lines(folder: &std::path::Path) -> Vec<String> {
    let tape = folder.join("whole.tape.jsonl");
    let script = server(&[(r#"\"initialize\""#, RESULT), (r#"\"ping\""#, PONG)]);
    let options = ["-o", tape.to_str().unwrap()];
    let mut session = Session::start(record(&options, &["sh", "-c", &script]));
    session.send(INITIALIZE);
    assert_eq!(session.line(), RESULT);
    session.send(INITIALIZED);
    session.send(PING);
    assert_eq!(session.line(), PONG);
    assert!(session.finish(std::time::Duration::from_secs(60)).success());
    let text = std::fs::read_to_string(tape).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Judges these lines; returns the standard error, and the outcomes that did not pass.
fn judged(folder: &std::path::Path, lines: &[String]) -> (String, Vec<(String, String)>) {
    let tape = folder.join("cut.tape.jsonl");
    std::fs::write(&tape, lines.join("\n") + "\n").unwrap();
    let words = ["compliance", "invariants", "--all", "--format", "json"];
    let capture = ["--capture", tape.to_str().unwrap()];
    let output = tapewright().args(words).args(capture).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = if said.is_empty() { 0 } else { 3 };
    assert_eq!(output.status.code(), Some(expected), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = Vec::new();
    outcomes(&report, &mut found);
    assert!(found.len() > 50, "{report:#}");
    found.retain(|(_, status)| status == "fail" || status == "inconclusive");
    (String::from_utf8(output.stderr).unwrap(), found)
}

/// Every rule with its status, at any depth.
fn outcomes(value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            if let (Some(code), Some(status)) = (text("code").or(text("id")), text("status")) {
                found.push((code.to_owned(), status.to_owned()));
            }
            members.values().for_each(|one| outcomes(one, found));
        }
        Value::Array(all) => all.iter().for_each(|one| outcomes(one, found)),
        _ => {}
    }
}

#[test]
fn what_is_missing_is_said_and_fails_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let whole = lines(folder.path());
    let (said, found) = judged(folder.path(), &whole);
    assert_eq!((said.as_str(), found.len()), ("", 0), "{found:?}");
    let last = whole.len() - 1;
    let answer = whole
        .iter()
        .position(|line| line.contains("\"serverInfo\""));
    let answer = answer.expect("an answer");
    let without = |places: std::ops::Range<usize>| {
        let mut lines = whole.clone();
        lines.drain(places);
        judged(folder.path(), &lines)
    };
    // If only the footer is missing, no verdict depends on it.
    for (cut, notice, matters) in [
        (answer..answer + 1, "has a gap of one event", true),
        (answer..answer + 2, "has a gap of 2 events", true),
        (last..last + 1, "has no footer; it ends after event", false),
        (answer..last + 1, "has no footer; it ends after event", true),
    ] {
        let (said, found) = without(cut.clone());
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(notice)).collect();
        assert_eq!(lines.len(), 1, "{cut:?}: {said}");
        assert!(lines[0].starts_with("tapewright: `"), "{said}");
        let failed = found.iter().any(|(_, status)| status == "fail");
        assert!(!failed, "{cut:?}: {found:?}");
        assert_eq!(!found.is_empty(), matters, "{cut:?}: {found:?}");
    }
}

#[test]
fn a_recording_that_is_not_whole_is_inconclusive() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = lines(folder.path());
    lines.pop();
    let cut = folder.path().join("cut.tape.jsonl");
    std::fs::write(&cut, lines.join("\n") + "\n").unwrap();
    let whole = folder.path().join("whole.tape.jsonl");
    let server = [
        env!("CARGO_BIN_EXE_tapewright"),
        "replay",
        whole.to_str().unwrap(),
    ];
    for (name, expected) in [("whole.tape.jsonl", 0), ("cut.tape.jsonl", 3)] {
        let tape = folder.path().join(name);
        let output = tapewright()
            .args(["verify", tape.to_str().unwrap(), "--"])
            .args(server)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(expected), "{name}: {said}");
        assert_eq!(
            said.contains("is not whole: no footer"),
            expected == 3,
            "{said}"
        );
    }
}

#[test]
fn a_message_that_was_too_long_is_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("long.tape.jsonl");
    let long = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"LONG"}}"#;
    let long = long.replace("LONG", &"x".repeat(5_000));
    let script = server(&[(r#"\"initialize\""#, RESULT), (r#"\"ping\""#, PONG)]);
    let options = ["-o", tape.to_str().unwrap(), "--max-message", "2KiB"];
    let mut session = Session::start(record(&options, &["sh", "-c", &script]));
    session.send(INITIALIZE);
    assert_eq!(session.line(), RESULT);
    session.send(INITIALIZED);
    session.send(&long);
    session.send(PING);
    assert_eq!(session.line(), PONG);
    assert!(session.finish(std::time::Duration::from_secs(60)).success());
    let output = tapewright()
        .args([
            "compliance",
            "invariants",
            "--capture",
            tape.to_str().unwrap(),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
}
