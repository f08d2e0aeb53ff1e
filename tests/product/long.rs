//! Recordings so long that their files are written while they run.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Session, eventually, record, tapewright, wait};

const LIMIT: Duration = Duration::from_secs(60);

/// A server that answers each line with a long one.
const ANSWER: &str = r#"pad=$(printf %08000d 7); n=0; while read line; do n=$((n+1))
echo "{\"jsonrpc\":\"2.0\",\"id\":$n,\"result\":{\"pad\":\"$pad\"}}"; done"#;

/// A session of more than a megabyte, which is still open.
fn talk(folder: &Path) -> Session {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (cassette, capture) = (path("fs.json"), path("fs.capture.json"));
    let options = ["-o", &cassette, "--save-capture", &capture];
    let mut session = Session::start(record(&options, &["sh", "-c", ANSWER]));
    for id in 1..=200 {
        session.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#
        ));
        session.line();
    }
    session
}

/// Whether a process writes an unnamed file in a folder.
fn writes_unnamed(pid: u32, folder: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let mut files = open
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok());
    files.any(|file| file.starts_with(folder) && file.to_string_lossy().ends_with(" (deleted)"))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The output of `export` for a tape.
fn exported(tape: &Path, format: &str) -> Value {
    let mut command = tapewright();
    command.arg("export").arg(tape).args(["--as", format]);
    let output = command.output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_long_recording_has_the_files_that_its_tape_tells() {
    let folder = tempfile::tempdir().unwrap();
    let session = talk(folder.path());
    let pid = session.child.id();
    assert!(eventually(LIMIT, || writes_unnamed(pid, folder.path())));
    assert_eq!(names(folder.path()), ["fs.tape.jsonl"]);
    assert!(session.finish(LIMIT).success());
    let all = ["fs.capture.json", "fs.json", "fs.tape.jsonl"];
    assert_eq!(names(folder.path()), all);
    let tape = folder.path().join("fs.tape.jsonl");
    for (name, format) in [("fs.json", "cassette"), ("fs.capture.json", "capture")] {
        let text = fs::read(folder.path().join(name)).unwrap();
        let here: Value = serde_json::from_slice(&text).unwrap();
        let there = exported(&tape, format);
        assert_eq!(here["exchanges"], there["exchanges"], "{name}");
        assert_eq!(here["exchanges"].as_array().unwrap().len(), 200);
    }
}

#[test]
fn a_kill_leaves_a_tape_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = talk(folder.path());
    let pid = session.child.id();
    assert!(eventually(LIMIT, || writes_unnamed(pid, folder.path())));
    session.child.kill().unwrap();
    wait(&mut session.child, LIMIT);
    assert_eq!(names(folder.path()), ["fs.tape.jsonl"]);
}
