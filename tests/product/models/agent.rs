//! An agent that we start, and the servers that it starts.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{Models, header, inspected};
use crate::support::http::{PATIENCE, json};
use crate::support::{peer, tapewright};
#[cfg(unix)]
use crate::support::{signal, wait};

/// A recording of an agent that is a script; `$RECORDER` and `$PEER` are in its environment.
fn recorded(folder: &Path, options: &[&str], script: &str) -> Output {
    command(folder, options, script).output().unwrap()
}

fn command(folder: &Path, options: &[&str], script: &str) -> Command {
    let mut command = tapewright();
    command
        .args(["record", "--models", "-o"])
        .arg(folder.join("run/"))
        .args(options)
        .args(["--", "sh", "-c", script])
        .env("RECORDER", env!("CARGO_BIN_EXE_tapewright"))
        .env("PEER", peer())
        .env("TAPEWRIGHT_HOME", folder.join("home"))
        .env_remove("OPENAI_BASE_URL")
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn an_agent_has_its_addresses_our_input_and_output_and_we_have_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo "$ANTHROPIC_BASE_URL $OPENAI_BASE_URL $GOOGLE_GEMINI_BASE_URL"; echo "$NO_PROXY" >&2; exit 7"#;
    let output = command(
        folder.path(),
        &["--provider", "openai=http://up.example/deep/v1/"],
        script,
    )
    .env("ANTHROPIC_BASE_URL", "http://other.example/base")
    .env("HTTPS_PROXY", "http://proxy.example")
    .env("NO_PROXY", "inside.example")
    .output()
    .unwrap();
    assert_eq!(output.status.code(), Some(7));
    let text = String::from_utf8(output.stdout).unwrap();
    let urls: Vec<&str> = text.trim_end().split(' ').collect();
    let [anthropic, openai, gemini] = urls.as_slice() else {
        panic!("{text}")
    };
    let origin = gemini.strip_suffix("/gemini").unwrap();
    assert!(origin.starts_with("http://127.0.0.1:"), "{origin}");
    assert_eq!(*anthropic, format!("{origin}/anthropic/base"));
    assert_eq!(*openai, format!("{origin}/openai/deep/v1"));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "inside.example,127.0.0.1\n"
    );
    let tape = folder.path().join("run/models.tape.jsonl");
    assert!(!header(&tape)["part_of"].as_str().unwrap().is_empty());
    // A folder holds one recording.
    let again = recorded(folder.path(), &[], "exit 0");
    assert_eq!(again.status.code(), Some(2));
    let why = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(why.contains("already contains a recording"), "{why}");
}

#[test]
fn servers_that_an_agent_starts_are_parts_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    // One with all variables that the recorder passes on, one as started by clients that pass on
    // few, one that names a cassette, and one that opts out. Windows does not tell what variables an
    // ancestor has.
    let few = if cfg!(unix) {
        r#"env -i PATH="$PATH" HOME="$HOME" "#
    } else {
        ""
    };
    let script = format!(
        r#"ask() {{ echo '{PING}'; }}
        ask | "$RECORDER" record --label first -- "$PEER" answer log1
        ask | {few}"$RECORDER" record --label second -- "$PEER" answer log2
        ask | "$RECORDER" record -o named.json --label first -- "$PEER" answer log3
        ask | TAPEWRIGHT_RECORDING= "$RECORDER" record -o apart.tape.jsonl -- "$PEER" answer log4"#
    );
    let output = recorded(folder.path(), &[], &script);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 4);
    let run = folder.path().join("run");
    let id = header(&run.join("models.tape.jsonl"))["part_of"].clone();
    let mut names: Vec<String> = std::fs::read_dir(&run)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "first.2.tape.jsonl",
            "first.tape.jsonl",
            "models.tape.jsonl",
            "second.tape.jsonl"
        ]
    );
    for name in &names {
        assert_eq!(header(&run.join(name))["part_of"], id, "{name}");
    }
    assert_eq!(
        inspected(&run.join("second.tape.jsonl"))["to_server"]["messages"],
        1
    );
    assert!(folder.path().join("named.json").exists());
    assert!(
        header(&folder.path().join("apart.tape.jsonl"))
            .get("part_of")
            .is_none()
    );
}

#[cfg(unix)]
#[test]
fn an_agent_gets_our_signals_and_we_end_as_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let script = "trap 'echo got; exit 3' TERM; echo ready; while :; do sleep 0.1; done";
    let mut child = command(folder.path(), &[], script)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    signal(child.id(), "TERM");
    assert_eq!(lines.next().unwrap().unwrap(), "got");
    let status = wait(&mut child, PATIENCE);
    assert_eq!(status.code(), Some(3));
}

#[test]
fn what_was_recorded_stays_when_the_recorder_is_killed() {
    let models = Models::start();
    let body = r#"{"model":"m","max_tokens":5,"messages":[]}"#;
    let mut client = models.post("/anthropic/v1/messages", "", body);
    let mut server = models.anthropic.accept();
    let head = server.head();
    server.body(&head);
    server.send(json("200 OK", "", r#"{"model":"m-1","content":[]}"#));
    let head = client.head();
    client.body(&head);
    let tape = models.folder().join("models.tape.jsonl");
    assert!(crate::support::eventually(PATIENCE, || {
        std::fs::read_to_string(&tape).is_ok_and(|text| text.contains("m-1"))
    }));
    models.gateway.signal("KILL");
    assert!(crate::support::eventually(PATIENCE, || {
        inspected(&tape)["ended"].get("written_by").is_none()
    }));
    assert_eq!(inspected(&tape)["model_calls"][0]["model"], "m-1");
}

#[test]
fn what_cannot_be_recorded_is_refused_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, why) in [
        (vec!["--models"], "no agent to record"),
        (
            vec!["--models", "--provider", "x", "--", "true"],
            "NAME=URL",
        ),
        (
            vec!["--models", "-o", "run.json", "--", "true"],
            "is the name of a file",
        ),
        (
            vec!["--models", "--listen", "unix:s", "--", "true"],
            "cannot connect to a Unix socket",
        ),
        (
            vec!["--models", "--mode", "once", "--", "true"],
            "cannot be used with",
        ),
        (
            vec!["--models", "--", "no-such-program-of-anybody"],
            "cannot start",
        ),
    ] {
        let output = tapewright()
            .arg("record")
            .args(&arguments)
            .env("TAPEWRIGHT_HOME", folder.path().join("home"))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(why), "{arguments:?}: {said}");
    }
    // A failed start leaves nothing behind.
    let left = std::fs::read_dir(folder.path().join("home"));
    let left: Vec<_> = left.into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    let mut record = tapewright();
    record.args([
        "record",
        "--models",
        "-o",
        "mine/",
        "--",
        "no-such-program-of-anybody",
    ]);
    std::fs::create_dir(folder.path().join("mine")).unwrap();
    let output = record.current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        folder.path().join("mine").is_dir(),
        "the user's own folder stays"
    );
}
