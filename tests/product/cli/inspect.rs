//! `tapewright inspect`.

use std::time::Duration;

use super::golden::{TAPE, cut_short, folder, golden, run};
use crate::support::{Session, eventually, record};

#[test]
fn a_tape_is_told_for_people_and_for_programs() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    golden("inspect_tape", folder.path(), &["inspect", "fs.tape.jsonl"]);
    golden(
        "inspect_json",
        folder.path(),
        &["inspect", "--json", "fs.tape.jsonl"],
    );
}

#[test]
fn nothing_of_a_peer_moves_the_cursor() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    let (_, text, _) = run(folder.path(), &["inspect", "fs.tape.jsonl"]);
    assert!(
        text.chars().all(|char| char == '\n' || !char.is_control()),
        "{text}"
    );
    assert!(!text.contains('\u{202e}'));
}

#[test]
fn a_tape_on_which_time_runs_backwards_says_so() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    let said = "2 events are earlier than those before them";
    let (_, text, _) = run(folder.path(), &["inspect", "fs.tape.jsonl"]);
    assert!(!text.contains("earlier"), "{text}");
    let mut lines: Vec<&str> = TAPE.lines().collect();
    lines.swap(3, 5);
    std::fs::write(folder.path().join("b.tape.jsonl"), lines.join("\n")).unwrap();
    let (_, text, _) = run(folder.path(), &["inspect", "b.tape.jsonl"]);
    assert!(text.contains(said), "{text}");
    let (_, text, _) = run(folder.path(), &["inspect", "--json", "b.tape.jsonl"]);
    assert!(
        text.contains("\"backwards\": 2") || text.contains("\"backwards\":2"),
        "{text}"
    );
}

#[test]
fn every_kind_of_file_is_told_apart() {
    let folder = folder(&[("fs.tape.jsonl", TAPE)]);
    for (format, name) in [("cassette", "a"), ("capture", "b"), ("tape", "c")] {
        let output = ["export", "fs.tape.jsonl", "--as", format, "-o", name];
        assert_eq!(run(folder.path(), &output).0, 0);
        let (status, text, _) = run(folder.path(), &["inspect", name]);
        assert_eq!(status, 0);
        assert!(text.starts_with(&format!("{name}: {format}")), "{text}");
    }
    golden("inspect_capture", folder.path(), &["inspect", "b"]);
}

#[test]
fn a_tape_that_was_cut_short_says_so() {
    let folder = folder(&[("fs.tape.jsonl", cut_short())]);
    golden("inspect_cut_short", folder.path(), &["inspect", "fs.json"]);
}

#[test]
fn findings_are_told_with_what_was_seen() {
    let finding = r#"{"seq":5,"at_us":5000,"finding":{"code":"INV-012","status":"fail","side":"server","severity":"must","detail":"no request with this id was in flight","evidence":[{"seq":3,"pointer":"/id"}]}}"#;
    let hang = r#"{"seq":13,"at_us":90150,"finding":{"code":"HANG","status":"open","side":"server","detail":"`tools/call`, id `9`, has had no answer for 30.0 s, since 2.1 s","evidence":[{"seq":5}],"processes":[{"pid":7,"name":"node","state":"sleeping","cpu_ms":412,"files":["0 pipe:[88]"],"more_files":3}]}}"#;
    let mut lines: Vec<&str> = TAPE.lines().collect();
    lines.insert(13, hang);
    lines.insert(5, finding);
    let tape = lines.join("\n") + "\n";
    let folder = folder(&[("fs.tape.jsonl", &tape), ("plain.tape.jsonl", TAPE)]);
    let path = folder.path();
    golden("inspect_findings", path, &["inspect", "fs.tape.jsonl"]);
    // They belong to no conversation.
    let export = |file: &str, format: &str| run(path, &["export", file, "--as", format]).1;
    for format in ["cassette", "capture"] {
        let (with, without) = (
            export("fs.tape.jsonl", format),
            export("plain.tape.jsonl", format),
        );
        assert_eq!(with.replace("fs.tape", "plain.tape"), without);
    }
    // And a tape keeps them.
    assert_eq!(
        export("fs.tape.jsonl", "tape")
            .matches("\"finding\":")
            .count(),
        2
    );
}

#[test]
fn a_tape_that_is_still_written_says_by_whom() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("run.tape.jsonl");
    let mut session = Session::start(record(&["-o", tape.to_str().unwrap()], &["cat"]));
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
    session.line();
    let inspect = || run(folder.path(), &["inspect", "run.tape.jsonl"]).1;
    let said = format!("process {} is still writing this tape", session.child.id());
    assert!(inspect().contains(&said), "{}", inspect());
    let (_, json, _) = run(folder.path(), &["inspect", "--json", "run.tape.jsonl"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["ended"]["written_by"], session.child.id());
    // A killed process writes no more.
    session.child.kill().unwrap();
    session.child.wait().unwrap();
    let ended = || inspect().contains("no footer: the recorder was stopped");
    assert!(eventually(Duration::from_secs(60), ended), "{}", inspect());
}
