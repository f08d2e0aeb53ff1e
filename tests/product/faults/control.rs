//! Faults that are added and removed while messages flow.

use std::time::Duration;

use super::call;
use crate::support::system::assert_mode;
use crate::support::{Session, eventually, peer, record, tapewright};

const PATIENCE: Duration = Duration::from_secs(60);

/// Asks the control; status, output and errors.
fn fault(control: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let done = tapewright()
        .arg("fault")
        .args(words)
        .args(["--control", control])
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn a_hang_is_added_seen_and_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control.sock");
    let control = format!("unix:{}", socket.display());
    let tape = folder.path().join("run.tape.jsonl");
    let log = folder.path().join("log");
    let peer = peer();
    let options = ["-o", tape.to_str().unwrap(), "--control", &control];
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut session = Session::start(record(&options, &server));
    session.send(&call(1, "search"));
    assert!(session.line().contains("\"id\":1,"));
    assert_mode(&socket, 0o600);

    let (status, name, errors) = fault(&control, &["add", "hang tool=search"]);
    assert_eq!((status, name.as_str()), (Some(0), "hang-1\n"), "{errors}");
    session.send(&call(2, "search"));
    session.send(&call(3, "find"));
    assert!(session.line().contains("\"id\":3,"));
    let holds = || fault(&control, &["list"]).1.contains("\"holds\":1");
    assert!(eventually(PATIENCE, holds));

    let (status, _, errors) = fault(&control, &["remove", "hang-2"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("did you mean `hang-1`?"), "{errors}");
    let (status, _, errors) = fault(&control, &["add", "hnag"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("did you mean `hang`?"), "{errors}");
    for words in [
        vec!["add", "hang resource=x prompt=y"],
        vec!["change", "hang-1", "hang resource=x prompt=y"],
        vec!["add", "http-status status=404"],
    ] {
        let (status, _, errors) = fault(&control, &words);
        assert_eq!(status, Some(2), "{words:?}");
        assert!(errors.contains("column "), "{errors}");
    }

    assert_eq!(fault(&control, &["remove", "hang-1"]).0, Some(0));
    assert!(session.line().contains("\"id\":2,"));
    session.send(&call(4, "search"));
    assert!(session.line().contains("\"id\":4,"));
    assert_eq!(session.finish(PATIENCE).code(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn a_port_asks_for_the_token_that_was_printed() {
    use std::io::{BufRead as _, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("run.tape.jsonl");
    let log = folder.path().join("log");
    let peer = peer();
    let options = ["-o", tape.to_str().unwrap(), "--control", "127.0.0.1:0"];
    let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
    let mut session = Session::start(record(&options, &server));
    let mut line = String::new();
    let errors = session.child.stderr.take().unwrap();
    BufReader::new(errors).read_line(&mut line).unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    let control = line["control"].as_str().unwrap();
    let (status, _, errors) = fault(control, &["list"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("token"), "{errors}");
    let token = line["token"].as_str().unwrap();
    let words = ["add", "error tool=search", "--token", token];
    assert_eq!(fault(control, &words).1, "error-1\n");
    session.send(&call(1, "search"));
    assert!(session.line().contains("\"error\""));
    assert_eq!(session.finish(PATIENCE).code(), Some(0));
}

#[test]
fn what_is_slow_is_released_when_its_fault_goes_or_changes() {
    for (number, words) in [
        &["remove", "slow-1"][..],
        &["change", "slow-1", "slow tool=search delay_ms=1"],
    ]
    .into_iter()
    .enumerate()
    {
        let folder = tempfile::tempdir().unwrap();
        let control = format!("unix:{}", folder.path().join("control.sock").display());
        let (tape, log) = (
            folder.path().join("run.tape.jsonl"),
            folder.path().join("log"),
        );
        let peer = peer();
        let slow = "slow tool=search delay_ms=3600000";
        let options = [
            "-o",
            tape.to_str().unwrap(),
            "--control",
            &control,
            "--fault",
            slow,
        ];
        let server = [peer.to_str().unwrap(), "answer", log.to_str().unwrap()];
        let mut session = Session::start(record(&options, &server));
        session.send(&call(1, "search"));
        let say = |command: &str| {
            let done = tapewright()
                .args([command, "--control", &control])
                .output()
                .unwrap();
            String::from_utf8(done.stdout).unwrap()
        };
        let waits = || {
            say("sessions").contains("id 1 for ")
                && say("sessions").contains("by the fault slow-1 (slow)")
        };
        assert!(eventually(PATIENCE, waits), "{}", say("sessions"));
        let (status, _, errors) = fault(&control, words);
        assert_eq!(status, Some(0), "{errors}");
        assert!(session.line().contains("\"id\":1,"));
        let released = ["removed", "changed"][number];
        assert!(
            eventually(PATIENCE, || say("sessions").contains("0 pending")),
            "{}",
            say("sessions")
        );
        assert_eq!(session.finish(PATIENCE).code(), Some(0));
        let inspected = tapewright()
            .args(["inspect", tape.to_str().unwrap()])
            .output()
            .unwrap();
        let inspected = String::from_utf8(inspected.stdout).unwrap();
        let line = inspected
            .lines()
            .find(|line| line.contains("passed on after"));
        let line = line.unwrap_or_else(|| panic!("{inspected}"));
        // When it was, and not when it would have been.
        let why = format!(", since the fault was {released}");
        assert!(line.ends_with(&why) && !line.contains("3600000"), "{line}");
    }
}
