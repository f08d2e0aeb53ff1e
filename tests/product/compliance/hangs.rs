//! Requests without an answer, named while they hang.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{INITIALIZE, PING, PONG, RESULT, findings, handshake, server};
use crate::support::http::{PATIENCE, pair, post};
use crate::support::{Session, Tape, eventually, record};

/// Answers the ping only after a notification.
fn slow() -> String {
    server(&[("initialize\\\"", RESULT), ("notifications/go", PONG)])
}

/// Whether the tape eventually reports that this hangs.
fn is_named(tape: &Path, method: &str) -> bool {
    let told = format!("{method}, id ");
    eventually(PATIENCE, || {
        let text = fs::read_to_string(tape).unwrap_or_default();
        text.lines()
            .any(|line| line.contains("HANG") && line.contains(&told))
    })
}

const GO: &str = r#"{"jsonrpc":"2.0","method":"notifications/go"}"#;

#[test]
fn a_hang_is_named_with_what_the_server_does_and_closed_by_a_late_answer() {
    for durability in ["queue", "written"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.tape.jsonl");
        let options = [
            "--hang-after",
            "100ms",
            "--strict",
            "-v",
            "--durability",
            durability,
        ];
        let options = [&options[..], &["-o", path.to_str().unwrap()]].concat();
        let mut session = Session::start(record(&options, &["sh", "-c", &slow()]));
        handshake(&mut session);
        session.send(PING);
        // Nothing else passes: the recorder notices by itself.
        assert!(is_named(&path, "`ping`"), "{durability}");
        session.send(GO);
        assert_eq!(session.line(), PONG);
        session.close_input();
        let output = session.child.wait_with_output().unwrap();
        // It was answered after all.
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        // The handshake may have taken its time too, and nothing else.
        let (found, others): (Vec<_>, Vec<_>) = findings(&Tape::read(&path))
            .into_iter()
            .partition(|one| one.detail.starts_with("`ping`"));
        let opening = others
            .iter()
            .filter(|one| one.code == "HANG" && one.detail.starts_with("`initialize`"));
        assert_eq!(opening.count(), others.len(), "{others:?}");
        let [open, closed] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((open.status.name(), open.side.name()), ("open", "server"));
        assert!(
            open.detail
                .starts_with("`ping`, id `1`, has had no answer for "),
            "{open:?}"
        );
        assert_eq!(closed.status.name(), "closed");
        assert_eq!(closed.evidence[1], open.evidence[0]);
        if cfg!(target_os = "linux") {
            let shell = open.processes.iter().find(|one| one.name == "sh").unwrap();
            assert_eq!(shell.state, "sleeping");
            assert!(
                shell.files.iter().any(|file| file.starts_with("0 pipe:")),
                "{shell:?}"
            );
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(errors.contains("`sh` is sleeping"), "{errors}");
        }
    }
}

#[test]
fn a_hang_at_the_end_is_a_finding_under_strict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.tape.jsonl");
    let options = [
        "--hang-after",
        "50ms",
        "--strict",
        "-o",
        path.to_str().unwrap(),
    ];
    let mut session = Session::start(record(&options, &["sh", "-c", &slow()]));
    handshake(&mut session);
    session.send(PING);
    assert!(is_named(&path, "`ping`"));
    session.signal("TERM");
    let status = crate::support::wait(&mut session.child, PATIENCE);
    assert_eq!(status.code(), Some(1));
}

#[test]
fn an_exchange_over_http_hangs_until_it_is_over() {
    let (upstream, gateway) = pair(&["--hang-after", "100ms"]);
    let mut client = gateway.connect();
    client.send(post(gateway.address, "", INITIALIZE));
    let mut server = upstream.accept();
    let head = server.head();
    server.body(&head);
    let path = gateway.tape();
    assert!(is_named(&path, "`initialize`"));
    server.send("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    let head = client.head();
    client.body(&head);
    drop(client);
    let found = findings(&gateway.stop());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].processes, []);
}

#[test]
fn what_can_be_mistyped_is_explained() {
    let say = |options: &[&str]| {
        let mut all = vec!["record", "-o", "x.json"];
        all.extend(options);
        all.extend(["--", "true"]);
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_tapewright"))
            .args(&all)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        String::from_utf8(output.stderr).unwrap()
    };
    for (options, words) in [
        (
            &["--strict"][..],
            "add `--check`, `--hang-after DURATION` or `--suite SUITE`",
        ),
        (&["--severity", "must"], "add `--check`"),
        (&["--all"], "add `--check`"),
        (&["--hang-after", "soon"], "invalid duration `soon`"),
        (&["--hang-after", "0"], "must be longer than 0"),
        (
            &["--check", "--select", "INV-999"],
            "unknown invariant `INV-999`",
        ),
    ] {
        let said = say(options);
        assert!(said.contains(words), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_server_that_never_answers_and_is_ended_by_a_signal_is_found_to_hang() {
    use std::os::unix::process::ExitStatusExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.tape.jsonl");
    let check = ["--check", "--all", "--hang-after", "1100ms"];
    let options = [&check[..], &["-o", path.to_str().unwrap()]].concat();
    let mut session = Session::start(record(&options, &["sh", "-c", &slow()]));
    handshake(&mut session);
    session.send(PING);
    // So much time has passed then that it was not sent too late to be answered.
    assert!(is_named(&path, "`ping`"));
    session.signal("TERM");
    let status = crate::support::wait(&mut session.child, PATIENCE);
    assert_eq!(status.signal(), Some(15));
    let found = findings(&Tape::read(&path));
    let told = found.iter().find(|one| one.code == "INV-016").unwrap();
    assert_eq!((told.status.name(), told.side.name()), ("fail", "server"));
    assert!(
        super::from_disk(&path)
            .iter()
            .any(|(code, ..)| code == "INV-016")
    );
}
