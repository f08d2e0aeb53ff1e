//! The recorder's messages, and when it prints none.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::{Session, Tape, peer, record, tapewright};

fn run(arguments: &[&str]) -> Output {
    tapewright()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_recorder_is_silent_without_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("s.json");
    let output = run(&[
        "record",
        "-o",
        cassette.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2",
    ]);
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        ("out\n".into(), "err\n".into())
    );
    let output = run(&[
        "record",
        "-v",
        "-o",
        cassette.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "echo out; echo err >&2",
    ]);
    assert_eq!(text(&output.stdout), "out\n");
    assert!(
        text(&output.stderr).contains("tapewright: recording to"),
        "{output:?}"
    );
}

#[test]
fn the_server_starts_exactly_as_it_would_alone() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("s.tape.jsonl");
    // Arguments that a shell would split, an empty one, and options with names of tapewright's own.
    let script = r#"printf '%s|' "$0" "$@"; pwd; env | sort"#;
    let words = [
        "sh", "-c", script, "a b", "", "$HOME", "'q'", "-o", "--", "*", "-v", "ü",
    ];
    let ask = |command: &mut Command| {
        command
            .current_dir(folder.path())
            .env("ONE", "x y")
            .env_remove("TAPEWRIGHT_HOME");
        text(&command.stdin(Stdio::null()).output().unwrap().stdout)
    };
    let alone = ask(Command::new(words[0]).args(&words[1..]));
    let through = ask(tapewright()
        .args(["record", "-o", tape.to_str().unwrap(), "--"])
        .args(words));
    // The shell sets `_` to the program that it started.
    let plain = |text: &str| {
        text.lines()
            .filter(|line| !line.starts_with("_="))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(plain(&alone), plain(&through));
    assert_eq!(Tape::read(&tape).header.command[3..], words[3..]);
}

#[test]
fn an_entry_for_a_client_runs_this_very_command() {
    let output = run(&[
        "record",
        "--print-config",
        "-o",
        "fs.json",
        "--",
        "npx",
        "-y",
        "@scope/server-x",
        "/a b",
    ]);
    assert!(output.status.success());
    let entry: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let server = entry.pointer("/mcpServers/server-x").unwrap();
    // A client starts it in another folder.
    let whole = std::env::current_dir().unwrap().join("fs.json");
    let arguments = [
        "record",
        "-o",
        whole.to_str().unwrap(),
        "--",
        "npx",
        "-y",
        "@scope/server-x",
        "/a b",
    ];
    assert_eq!(server["args"], serde_json::json!(arguments));
    let command = Path::new(server["command"].as_str().unwrap());
    assert!(command.is_absolute());
    let this = Path::new(env!("CARGO_BIN_EXE_tapewright"));
    assert_eq!(
        command.canonicalize().unwrap(),
        this.canonicalize().unwrap()
    );
}

#[test]
fn secrets_of_the_environment_and_the_command_line_reach_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("s.json");
    let capture = folder.path().join("s.capture.json");
    let secrets = [
        "Zq7-env-secret-91",
        "Zq7-named-secret-92",
        "Zq7-argument-93",
        "pet-Zq7-94",
    ];
    let script = r#"read line; echo "$line"; echo "$MY_API_TOKEN in a log" >&2; echo "noise $PLAIN"; echo '{"id":1,"result":{"pet_name":"pet-Zq7-94"}}'"#;
    let mut command = record(
        &[
            "-o",
            cassette.to_str().unwrap(),
            "--save-capture",
            capture.to_str().unwrap(),
            "--redact-env",
            "PLAIN",
            "--redact-key",
            "pet_name",
        ],
        &["sh", "-c", script, "sh", "--api-key", secrets[2]],
    );
    command
        .env("MY_API_TOKEN", secrets[0])
        .env("PLAIN", secrets[1]);
    let mut session = Session::start(command);
    session.send(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"echo":"{}"}}}}"#,
        secrets[0]
    ));
    // The client itself still sees everything.
    assert!(session.line().contains(secrets[0]));
    assert!(session.line().contains(secrets[1]));
    assert!(session.line().contains(secrets[3]));
    assert!(session.finish(Duration::from_secs(60)).success());
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let content = text(&std::fs::read(&path).unwrap());
        for secret in secrets {
            assert!(
                !content.contains(secret),
                "{secret} is in {}:\n{content}",
                path.display()
            );
        }
    }
    assert!(
        text(&std::fs::read(cassette.with_extension("tape.jsonl")).unwrap())
            .contains("<REDACTED:env#1>")
    );
}

#[test]
fn what_is_not_redacted_on_request_is_told_by_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("s.tape.jsonl");
    run(&[
        "record",
        "--no-redact",
        "-o",
        tape.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "echo password=hunter2-hunter2",
    ]);
    let content = text(&std::fs::read(&tape).unwrap());
    assert!(
        content.contains("hunter2-hunter2") && content.contains("\"redacted\":false"),
        "{content}"
    );
}

#[test]
fn messages_over_the_limit_are_clipped_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("s.tape.jsonl");
    let script = "x=yyyyyyyyyy; for i in 1 2 3 4; do x=$x$x$x$x$x$x$x$x$x$x; done; echo $x$x$x";
    let output = run(&[
        "record",
        "--max-message",
        "100KB",
        "-o",
        tape.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        script,
    ]);
    assert_eq!(output.stdout.len(), 300_001);
    let content = text(&std::fs::read(&tape).unwrap());
    assert!(
        content.contains("\"clipped\":{\"len\":300000"),
        "{}",
        &content[..900]
    );
}

#[test]
fn synced_and_gap_record_a_whole_session_too() {
    let folder = tempfile::tempdir().unwrap();
    let peer = peer();
    for options in [["--durability", "synced"], ["--when-full", "gap"]] {
        let tape = folder.path().join(format!("{}.tape.jsonl", options[1]));
        let log = folder.path().join("log");
        let mut all = options.to_vec();
        all.extend(["-o", tape.to_str().unwrap()]);
        let mut session = Session::start(record(
            &all,
            &[peer.to_str().unwrap(), "answer", log.to_str().unwrap()],
        ));
        for id in 0..20 {
            session.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
            assert!(session.line().contains(&format!("\"id\":{id},")));
        }
        assert!(session.finish(Duration::from_secs(60)).success());
        let tape = Tape::read(&tape);
        assert!(tape.is_complete());
        assert_eq!(
            tape.events
                .iter()
                .filter(|event| matches!(
                    event.body,
                    tapewright_schemas::event::EventBody::Message { .. }
                ))
                .count(),
            40
        );
    }
}

#[test]
fn the_demonstration_plays_offline() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["demo", "--folder", folder.path().to_str().unwrap()]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", text(&output.stderr));
    for piece in [
        "$ tapewright record",
        "$ tapewright inspect",
        "$ tapewright export",
        "$ tapewright replay demo.json",
        "$ tapewright compliance invariants",
        "Result: 0 failed",
        "hangs: 1 request, 1 never answered",
        "noise: 1 line",
    ] {
        assert!(said.contains(piece), "{piece} is missing in:\n{said}");
    }
    // The client sees the same with the recording in place of the server.
    for part in [
        r#""progressToken":"p1""#,
        r#""id":2,"result""#,
        "radar   (no answer",
    ] {
        assert_eq!(said.matches(part).count(), 2, "{part}: {said}");
    }
    let cassette = text(&std::fs::read(folder.path().join("demo.json")).unwrap());
    assert!(cassette.contains("<ANTHROPIC_API_KEY>"), "{cassette}");
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = tapewright()
        .arg("--help")
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("cannot write to stdout"), "{errors}");
}
