//! Which files a report or an export may replace, and what is written of nothing.

use std::process::Stdio;

use super::{pings, refused};
use crate::support::{record, tapewright};

#[test]
fn a_report_never_replaces_an_input_or_another_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert!(pings(&folder.path().join("fs.json"), 1).success());
    let export = |kind: &str, to: &str| {
        let arguments = ["export", &path("fs.tape.jsonl"), "--as", kind, "-o", to];
        tapewright().args(arguments).status().unwrap().code()
    };
    assert_eq!(export("capture", &path("c.json")), Some(0));
    std::fs::copy(path("fs.tape.jsonl"), path("other.tape.jsonl")).unwrap();
    let suite = r#"{"servers":{"s":{"cassette":"fs.json"}},"tools":[]}"#;
    std::fs::write(path("g.json"), suite).unwrap();
    std::fs::write(path("g.yaml"), suite).unwrap();
    let names = [
        "fs.json",
        "fs.tape.jsonl",
        "other.tape.jsonl",
        "c.json",
        "g.json",
        "g.yaml",
    ];
    let read = || names.map(|name| std::fs::read(folder.path().join(name)).unwrap());
    let before = read();
    let (fs, tape, other) = (
        path("fs.json"),
        path("fs.tape.jsonl"),
        path("other.tape.jsonl"),
    );
    let (capture, json, yaml) = (path("c.json"), path("g.json"), path("g.yaml"));
    let junit = format!("junit={fs}");
    let commands: [&[&str]; 11] = [
        &["replay", &fs, "--report", &fs],
        &["replay", &fs, "--report", &tape],
        &[
            "compliance",
            "run",
            "--capture",
            &fs,
            "--save-scorecard",
            &fs,
        ],
        &["run", &json, "-o", &json],
        &["run", &yaml, "-o", &yaml],
        &["run", &yaml, "--format", &junit],
        &["run", &json, "--capture", &fs, "-o", &fs],
        &["export", &fs, "--as", "tape", "-o", &other],
        &["export", &fs, "--as", "cassette", "-o", &capture],
        &["export", &tape, "--as", "capture", "-o", &fs],
        &["init", &fs, "--force", "-o", &fs],
    ];
    for command in commands {
        let said = refused(command);
        assert!(
            [
                "is the input itself",
                "already exists",
                "is a recording or a suite"
            ]
            .iter()
            .any(|text| said.contains(text)),
            "{command:?}: {said}"
        );
        assert!(before == read(), "{command:?}");
    }
    // What was exported before is exported again.
    assert_eq!(export("capture", &capture), Some(0));
    assert_eq!(export("cassette", &fs), Some(0));
    #[cfg(unix)]
    {
        let link = folder.path().join("link.json");
        std::os::unix::fs::symlink("g.json", &link).unwrap();
        let said = refused(&["run", &json, "-o", link.to_str().unwrap()]);
        assert!(said.contains("is the input itself"), "{said}");
    }
}

#[test]
fn a_recording_without_a_message_says_that_it_wrote_no_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    let mut command = record(&["-v", "-o", cassette.to_str().unwrap()], &["true"]);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(
        errors.contains("was not written: no message was recorded"),
        "{errors}"
    );
    assert!(!cassette.exists());
}
