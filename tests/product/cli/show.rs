//! `tapewright show`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tapewright_schemas::published;

use super::golden::{TAPE, cut_short, folder, golden, run};
use crate::support::{Session, eventually, record, tapewright};

const FILE: &str = "fs.tape.jsonl";

#[test]
fn a_conversation_is_shown_line_by_line() {
    let folder = folder(&[(FILE, TAPE)]);
    golden("show_tape", folder.path(), &["show", FILE]);
    golden(
        "show_all",
        folder.path(),
        &["show", FILE, "--all", "--stderr", "--http"],
    );
    golden(
        "show_full",
        folder.path(),
        &["show", FILE, "--full", "--id", "1"],
    );
    golden(
        "show_json",
        folder.path(),
        &["show", FILE, "--json", "--full", "method:tools/call"],
    );
}

#[test]
fn filters_narrow_it_down() {
    let folder = folder(&[(FILE, TAPE)]);
    golden(
        "show_filter",
        folder.path(),
        &["show", FILE, "kind:exchange", "-status:ok", "-tool:hang"],
    );
    golden(
        "show_kind",
        folder.path(),
        &["show", FILE, "kind:stderr,progress"],
    );
    golden("show_nothing", folder.path(), &["show", FILE, "slow:>5s"]);
    golden("show_bad_word", folder.path(), &["show", FILE, "tol:read"]);
    golden(
        "show_bad_value",
        folder.path(),
        &["show", FILE, "status:fine"],
    );
}

#[test]
fn what_a_file_cannot_know_is_said() {
    let folder = folder(&[(FILE, TAPE)]);
    for (format, name) in [("cassette", "a.json"), ("capture", "b.capture.json")] {
        let export = ["export", FILE, "--as", format, "-o", name];
        assert_eq!(run(folder.path(), &export).0, 0);
    }
    let timed = [
        "export",
        FILE,
        "--as",
        "cassette",
        "--cassette-times",
        "-o",
        "timed.json",
    ];
    assert_eq!(run(folder.path(), &timed).0, 0);
    let (_, said, _) = run(folder.path(), &["show", "timed.json"]);
    assert!(
        said.contains(
            "a cassette holds no stderr or findings, and faults only of unanswered requests"
        ),
        "{said}"
    );
    golden("show_cassette", folder.path(), &["show", "a.json"]);
    golden(
        "show_capture",
        folder.path(),
        &["show", "b.capture.json", "slow:1s"],
    );
    let (status, text, _) = run(folder.path(), &["show", "b.capture.json", "--json"]);
    assert_eq!(status, 0);
    let row: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&row["at_ms"], &row["waited_ms"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_folder_is_shown_file_by_file_and_what_is_cut_says_so() {
    let folder = folder(&[(FILE, TAPE), ("cut.tape.jsonl", cut_short())]);
    golden("show_folder", folder.path(), &["show", ".", "status:error"]);
    let (_, text, said) = run(folder.path(), &["show", ".", "--json"]);
    assert!(
        text.lines().all(|line| line.contains("\"file\":")),
        "{text}"
    );
    assert!(said.contains("ends without a footer after event"), "{said}");
}

#[test]
fn rows_are_as_their_schema_says_and_bodies_as_they_stand_on_the_tape() {
    let schema: Value = serde_json::from_str(published::find("exchange").unwrap().text()).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let wire = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire");
    let here = std::path::Path::new(wire);
    let (status, text, said) = run(
        here,
        &["show", "handshake-http.tape.jsonl", "--json", "--full"],
    );
    assert_eq!((status, said.as_str()), (0, ""));
    let tape = fs::read_to_string(here.join("handshake-http.tape.jsonl")).unwrap();
    let lines: Vec<&str> = tape.lines().collect();
    let mut seen = 0;
    for line in text.lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        if row.get("kind").is_some() {
            continue;
        }
        let seq = usize::try_from(row["request_seq"].as_u64().unwrap()).unwrap();
        let event: Value = serde_json::from_str(lines[seq]).unwrap();
        assert_eq!(event["message"], row["request"], "{line}");
        let members = row.as_object_mut().unwrap();
        members.remove("request");
        members.remove("answer");
        assert!(validator.is_valid(&row), "{row}");
        seen += 1;
    }
    assert!(seen > 5, "{text}");
}

#[test]
fn a_tape_that_is_still_written_is_shown_as_far_as_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("run.tape.jsonl");
    let mut session = Session::start(record(&["-o", tape.to_str().unwrap()], &["cat"]));
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    session.line();
    let shown = || run(folder.path(), &["show", "run.tape.jsonl"]).1;
    let said = format!("process {} is still writing this tape", session.child.id());
    let is_so = || shown().contains("ping") && shown().contains(&said);
    assert!(eventually(Duration::from_secs(60), is_so), "{}", shown());
    session.close_input();
    assert!(session.finish(Duration::from_secs(60)).success());
    assert!(!shown().contains("still writes"), "{}", shown());
}

#[test]
fn the_first_lines_of_a_long_tape_are_there_before_it_is_read_to_the_end() {
    let folder = folder(&[(FILE, "")]);
    let mut text = TAPE.lines().next().unwrap().to_owned() + "\n";
    // The first request is never answered: nothing may wait for it.
    for seq in 1..20_000_u64 {
        let (dir, rest) = if seq % 2 == 1 || seq == 2 {
            ("to_server", "\"method\":\"ping\"")
        } else {
            ("to_client", "\"result\":{}")
        };
        let id = if seq == 1 { 0 } else { seq.div_ceil(2) };
        let at = seq * 1_000;
        text.extend([format!(
            "{{\"seq\":{seq},\"at_us\":{at},\"dir\":\"{dir}\",\"message\":{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}}}\n"
        )]);
    }
    fs::write(folder.path().join(FILE), text).unwrap();
    let mut child = tapewright()
        .args(["show", FILE])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    assert!(first.contains("ping"), "{first}");
    // A reader that has seen enough closes the pipe, as `head` does.
    drop(out);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_view_without_a_terminal_says_what_to_do() {
    let folder = folder(&[(FILE, TAPE)]);
    golden("watch_no_terminal", folder.path(), &["watch", FILE]);
    golden(
        "watch_bad_word",
        folder.path(),
        &["watch", FILE, "tol:read"],
    );
}
