//! The destination of a log, and invalid options.

use std::process::{Command, Output, Stdio};

use super::{Folder, PING, names};
use crate::support::system::assert_mode;
use crate::support::tapewright;

fn recorded(command: &mut Command, folder: &Folder) -> Output {
    command.env("TAPEWRIGHT_HOME", folder.path().join("home"));
    command.args(["--", "sh", "-c", "echo out; echo err >&2"]);
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn standard_output_is_the_same_whatever_is_logged() {
    for log in [None, Some("stderr"), Some("file")] {
        let folder = Folder::new();
        let mut command = tapewright();
        command.arg("record");
        if let Some(log) = log {
            let place = if log == "file" {
                folder.file("log")
            } else {
                log.to_owned()
            };
            command.args(["--log", &place, "--log-filter", "trace"]);
        }
        let output = recorded(&mut command, &folder);
        assert_eq!(text(&output.stdout), "out\n");
        let errors = text(&output.stderr);
        match log {
            Some("stderr") => {
                let ours = errors.lines().filter(|line| line.contains(" tapewright::"));
                assert!(ours.count() > 5, "{errors}");
                assert!(errors.lines().any(|line| line == "err"), "{errors}");
            }
            _ => assert_eq!(errors, "err\n"),
        }
    }
}

#[test]
fn variables_stand_in_for_options_and_an_option_wins() {
    let folder = Folder::new();
    let variables = |command: &mut Command| {
        command
            .env("TAPEWRIGHT_LOG", folder.file("log"))
            .env("TAPEWRIGHT_LOG_FORMAT", "json")
            .env("TAPEWRIGHT_LOG_FILTER", "warn,tapewright::command=info");
    };
    let mut command = tapewright();
    variables(command.arg("record"));
    assert!(recorded(&mut command, &folder).status.success());
    assert_eq!(names(&folder.log()), ["started", "ended"]);
    let other = folder.file("other");
    let mut command = tapewright();
    variables(command.args(["record", "--log", &other, "--log-format", "text"]));
    assert!(recorded(&mut command, &folder).status.success());
    assert_eq!(folder.log().len(), 2);
    let lines = std::fs::read_to_string(&other).unwrap();
    assert!(
        lines
            .lines()
            .all(|line| line.contains(" INFO  tapewright::command ")),
        "{lines}"
    );
    // Neither a filter without a log nor an empty variable creates one.
    let mut command = tapewright();
    variables(&mut command);
    command.env("TAPEWRIGHT_LOG", "").arg("record");
    assert_eq!(text(&recorded(&mut command, &folder).stderr), "err\n");
    assert_eq!(folder.log().len(), 2);
}

#[test]
fn a_log_is_private_and_only_ever_added_to() {
    let folder = Folder::new();
    for count in 1..=2 {
        let mut command = tapewright();
        command
            .arg("record")
            .args(folder.logged("error,tapewright::command=info"));
        assert!(recorded(&mut command, &folder).status.success());
        assert_eq!(folder.log().len(), 2 * count);
    }
    assert_mode(&folder.path().join("log"), 0o600);
}

#[test]
fn what_cannot_be_logged_is_refused_before_anything_is_started() {
    let folder = Folder::new();
    let (mine, marker) = (folder.file("server.py"), folder.file("started"));
    std::fs::write(&mine, "import sys\n").unwrap();
    let nowhere = folder.file("server.py/log");
    let inside = folder.path().to_str().unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["--log", &mine], "is not a tapewright log"),
        (&["--log", inside], "is a folder"),
        (&["--log", &nowhere], "is not a folder"),
        (&["--log-filter", "debug"], "has no effect without `--log`"),
        (&["--log-format", "json"], "has no effect without `--log`"),
        (
            &[
                "--log",
                "stderr",
                "--log-filter",
                "tapewright::exchnge=debug",
            ],
            "did you mean",
        ),
        (
            &["--log", "stderr", "--log-filter", "loud"],
            "unknown log target",
        ),
    ];
    for (options, said) in cases {
        let mut command = tapewright();
        command.arg("record").args(options);
        let output = command.args(["--", "touch", &marker]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        let errors = text(&output.stderr);
        assert!(errors.contains(said), "{options:?}: {errors}");
        assert!(errors.contains("hint: "), "{errors}");
    }
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "import sys\n");
    assert!(!std::path::Path::new(&marker).exists());
}

#[test]
fn several_recorders_share_a_log_and_tear_no_line() {
    let folder = Folder::new();
    let start = |_| folder.record("trace", &[], &["sh", "-c", super::ANSWER]);
    let mut sessions: Vec<_> = (0..4).map(start).collect();
    for _ in 0..50 {
        for session in &mut sessions {
            session.send(PING);
            session.line();
        }
    }
    for session in sessions {
        assert!(session.finish(super::LIMIT).success());
    }
    let log = folder.log();
    let of = |name: &str| names(&log).iter().filter(|one| **one == name).count();
    assert_eq!((of("started"), of("exchange"), of("ended")), (4, 200, 4));
}
