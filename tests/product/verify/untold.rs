//! Recordings of which nothing is sent that would tell how the server answers.

use std::fs;

use super::{run, verify};
use crate::replay::{call, cassette, exchange, opening};

/// A call whose argument was redacted.
fn hidden() -> String {
    call("\"[REDACTED:length=40]\"", "one")
}

#[test]
fn a_session_of_which_only_the_opening_is_sent_is_inconclusive() {
    let folder = tempfile::tempdir().unwrap();
    let discover = || {
        exchange(
            "server/discover",
            "{}",
            r#"{"supportedVersions":["2026-07-28"]}"#,
        )
    };
    for (recorded, why) in [
        (
            vec![opening()],
            "the recording has no request after the opening of the session",
        ),
        (
            vec![discover()],
            "the recording has no request after the opening of the session",
        ),
        (
            vec![opening(), hidden()],
            "the one recorded request after the opening of the session was not sent",
        ),
        (
            vec![opening(), hidden(), hidden()],
            "none of the 2 recorded requests after the opening of the session was sent",
        ),
        (vec![hidden()], "the one recorded request was not sent"),
        (vec![], "the recording has no request"),
    ] {
        let tape = cassette(&recorded);
        let done = verify(folder.path(), &tape, &tape, &[]);
        assert_eq!(done.status, 3, "{recorded:?}: {}{}", done.out, done.error);
        let expected = format!("\n      {why}; record a session ");
        assert!(done.out.contains(&expected), "{recorded:?}: {}", done.out);
        assert!(done.out.ends_with("; inconclusive\n"), "{}", done.out);
    }
    // One other request is enough.
    let tape = cassette(&[opening(), exchange("ping", "{}", "{}")]);
    let done = verify(folder.path(), &tape, &tape, &[]);
    assert_eq!(done.status, 0, "{}{}", done.out, done.error);
    assert!(!done.out.contains("inconclusive"), "{}", done.out);
}

#[test]
fn every_format_tells_it() {
    let folder = tempfile::tempdir().unwrap();
    let tape = cassette(&[opening(), hidden()]);
    let why = "the one recorded request after the opening of the session was not sent";
    let hint = "record a session with an answered request";
    let both = format!("{why}; {hint}");
    for (format, parts) in [
        (
            "pretty",
            ["  INCONCLUSIVE  requests after the opening", both.as_str()],
        ),
        ("junit", ["<skipped", both.as_str()]),
        ("tap", ["# SKIP", both.as_str()]),
        (
            "github",
            ["::warning file=tape.json,title=inconclusive", both.as_str()],
        ),
        ("markdown", ["| inconclusive |", both.as_str()]),
    ] {
        let done = verify(folder.path(), &tape, &tape, &["--format", format]);
        assert_eq!(done.status, 3, "{format}: {}", done.error);
        for part in parts {
            assert!(done.out.contains(part), "{format}: {part}: {}", done.out);
        }
    }
    let report = verify(folder.path(), &tape, &tape, &["--json"]).json();
    assert_eq!(report["inconclusive"]["why"], why);
    let said = report["inconclusive"]["hint"].as_str().unwrap();
    assert!(said.starts_with(hint), "{said}");
}

#[test]
fn an_update_of_the_opening_alone_is_inconclusive_too() {
    let folder = tempfile::tempdir().unwrap();
    let live = opening().replace(r#""name":"s""#, r#""name":"t""#);
    let (recorded, live) = (
        cassette(&[opening(), hidden()]),
        cassette(&[live, hidden()]),
    );
    let drifted = verify(folder.path(), &recorded, &live, &[]);
    assert_eq!(drifted.status, 1, "{}{}", drifted.out, drifted.error);
    let updated = verify(folder.path(), &recorded, &live, &["--update"]);
    assert_eq!(updated.status, 3, "{}{}", updated.out, updated.error);
    assert!(
        updated.error.contains("replaced 1 answer"),
        "{}",
        updated.error
    );
}

#[test]
fn of_a_folder_the_recordings_are_counted() {
    let stage = tempfile::tempdir().unwrap();
    let all = stage.path().join("all");
    fs::create_dir(&all).unwrap();
    let whole = cassette(&[opening(), call("1", "one")]);
    fs::write(stage.path().join("live.json"), &whole).unwrap();
    fs::write(all.join("a.json"), cassette(&[opening()])).unwrap();
    fs::write(all.join("b.json"), &whole).unwrap();
    let server = [
        "--",
        env!("CARGO_BIN_EXE_tapewright"),
        "replay",
        "live.json",
    ];
    let done = run(
        stage.path(),
        &[&["verify", "all"][..], &server].concat(),
        &[],
    );
    assert_eq!(done.status, 3, "{}{}", done.out, done.error);
    let end = "Result: 0 drifted, 3 the same; 1 recording inconclusive\n";
    assert!(done.out.ends_with(end), "{}", done.out);
}
