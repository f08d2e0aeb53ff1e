//! `record --mode`: recorded requests are replayed, and new ones are sent to a live server, which
//! is a replay of another recording.

use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use super::replay_server::{ReplayServer, listening};
use super::{LIMIT, ask, call, cassette, exchange, opening, say};
use crate::support::system::STOPPED;
use crate::support::{Session, tapewright, wait};

/// A recorder in front of a server that plays `live.json` and lists who starts it.
fn command(folder: &Path, options: &[&str]) -> std::process::Command {
    let binary = env!("CARGO_BIN_EXE_tapewright");
    let script = format!("echo started >> starts; exec '{binary}' replay live.json -o seen.json");
    let mut command = tapewright();
    command
        .current_dir(folder)
        .args(["record", "-o", "tape.json"])
        .args(options)
        .args(["--", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn starts(folder: &Path) -> usize {
    let list = std::fs::read_to_string(folder.join("starts")).unwrap_or_default();
    list.lines().count()
}

fn recorded(folder: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(folder.join("tape.json")).unwrap();
    let tape: Value = serde_json::from_str(&text).unwrap();
    let text = |value: &Value| value.to_string();
    tape["exchanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let request = &one["request"];
            (
                text(&request["params"]["arguments"]["text"]),
                text(&one["response"]["result"]["content"][0]["text"]),
            )
        })
        .collect()
}

fn folder(known: Option<&[String]>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let live = cassette(&[
        opening(),
        call("1", "live one"),
        call("2", "live two"),
        call("3", "live three"),
        exchange("tools/list", "{}", r#"{"tools":[]}"#),
    ]);
    std::fs::write(folder.path().join("live.json"), live).unwrap();
    if let Some(known) = known {
        std::fs::write(folder.path().join("tape.json"), cassette(known)).unwrap();
    }
    folder
}

fn open(session: &mut Session) {
    ask(
        session,
        0,
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
    );
    session.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
}

#[test]
fn new_episodes_are_asked_once_and_added() {
    let known = [opening(), call("1", "recorded one")];
    let folder = folder(Some(&known));
    let path = folder.path();
    let mut first = Session::start(command(path, &["--mode", "new-episodes"]));
    open(&mut first);
    assert_eq!(say(&mut first, 1, "1"), "recorded one");
    assert_eq!(starts(path), 0, "what is known needs no server");
    assert_eq!(say(&mut first, 2, "2"), "live two");
    assert_eq!(say(&mut first, 3, "3"), "live three");
    assert_eq!(first.finish(LIMIT).code(), Some(0));
    assert_eq!(starts(path), 1);
    // The live server got the client's own handshake, and no other requests.
    let seen = std::fs::read_to_string(path.join("seen.json")).unwrap();
    let seen: Value = serde_json::from_str(&seen).unwrap();
    let seen = seen["exchanges"].as_array().unwrap();
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(seen[0]["request"]["params"]["clientInfo"]["name"], "c");

    let text = std::fs::read_to_string(path.join("tape.json")).unwrap();
    assert!(
        text.starts_with(cassette(&known).strip_suffix("]}").unwrap()),
        "{text}"
    );
    let pair = |argument: &str, said: &str| (argument.to_owned(), format!("\"{said}\""));
    let expected = [
        pair("1", "recorded one"),
        pair("2", "live two"),
        pair("3", "live three"),
    ];
    assert_eq!(recorded(path)[1..], expected);

    // From now on everything is recorded.
    let mut second = Session::start(command(path, &["--mode", "new-episodes"]));
    open(&mut second);
    assert_eq!(say(&mut second, 2, "3"), "live three");
    assert_eq!(second.finish(LIMIT).code(), Some(0));
    assert_eq!(starts(path), 1);
    let mut names: Vec<_> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "live.json",
            "seen.json",
            "seen.tape.jsonl",
            "starts",
            "tape.json"
        ]
    );
}

#[test]
fn a_cassette_that_is_there_is_all_that_once_and_none_know() {
    for mode in ["once", "none"] {
        let folder = folder(Some(&[opening(), call("1", "recorded one")]));
        let mut session = Session::start(command(folder.path(), &["--mode", mode]));
        open(&mut session);
        assert_eq!(say(&mut session, 1, "1"), "recorded one");
        assert!(say(&mut session, 2, "2").starts_with("-32020"));
        assert_eq!(
            session.finish(LIMIT).code(),
            Some(1),
            "{mode}: something was missed"
        );
        assert_eq!(starts(folder.path()), 0);
        assert_eq!(recorded(folder.path()).len(), 2);
    }
}

#[test]
fn without_a_cassette_once_and_new_episodes_record() {
    for mode in ["once", "new-episodes", "all"] {
        let folder = folder(None);
        let mut session = Session::start(command(folder.path(), &["--mode", mode]));
        open(&mut session);
        assert_eq!(say(&mut session, 1, "1"), "live one");
        assert_eq!(session.finish(LIMIT).code(), Some(0));
        assert_eq!(recorded(folder.path()).len(), 2, "{mode}");
    }
}

#[test]
fn a_missing_cassette_is_never_a_pass_for_none() {
    let folder = folder(None);
    let output = command(folder.path(), &["--mode", "none"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("`tape.json` does not exist, and `--mode none` never records"),
        "{said}"
    );
    assert_eq!(starts(folder.path()), 0);
}

#[test]
fn modes_that_cannot_be_are_refused() {
    let folder = folder(Some(&[opening()]));
    let path = folder.path();
    std::fs::write(path.join("broken.json"), "{").unwrap();
    for (options, part) in [
        (
            &["--mode", "new-episodes", "--save-capture", "c.json"][..],
            "`--save-capture` cannot be used with `--mode`",
        ),
        (
            &["--mode", "once", "-o", "tapes/"],
            "needs a cassette in `-o`",
        ),
        (&["--mode", "sometimes"], "invalid value"),
        (&["--mode", "none", "-o", "broken.json"], "line 1"),
    ] {
        let mut command = tapewright();
        command.current_dir(path).arg("record").args(options);
        if !options.contains(&"-o") {
            command.args(["-o", "tape.json"]);
        }
        let output = command.args(["--", "true"]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(part), "{options:?}: {said}");
    }
}

#[test]
fn a_live_server_that_cannot_be_had_is_an_error_for_that_request_alone() {
    let folder = folder(Some(&[
        opening(),
        call("1", "recorded one"),
        call("1", "again"),
    ]));
    let path = folder.path();
    let mut command = tapewright();
    command
        .current_dir(path)
        .args([
            "record",
            "-o",
            "tape.json",
            "--mode",
            "new-episodes",
            "--",
            "./nowhere",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut session = Session::start(command);
    open(&mut session);
    assert_eq!(say(&mut session, 1, "1"), "recorded one");
    let said = say(&mut session, 2, "2");
    assert!(
        said.contains("not recorded, and cannot start `./nowhere`"),
        "{said}"
    );
    assert_eq!(say(&mut session, 3, "1"), "again");
    session.finish(LIMIT);
    assert_eq!(recorded(path).len(), 3);
}

#[test]
fn clients_on_http_are_served_so_too() {
    let folder = folder(Some(&[opening(), call("1", "recorded one")]));
    let path = folder.path();
    let mut command = command(path, &["--mode", "new-episodes", "--listen", "127.0.0.1:0"]);
    let replay_server: ReplayServer = listening(command.stdin(Stdio::null()));
    let mut client = replay_server.client();
    client
        .greet(&tapewright_proxy::client::Opening::default(), LIMIT)
        .unwrap();
    for (argument, said) in [("1", "recorded one"), ("2", "live two")] {
        let params = format!(r#"{{"name":"echo","arguments":{{"text":{argument}}}}}"#);
        let reply = client.request("tools/call", Some(&params), LIMIT).unwrap();
        let text = String::from_utf8(reply.message.to_vec()).unwrap();
        assert!(text.contains(said), "{text}");
    }
    client.close();
    assert_eq!(replay_server.stop("TERM"), Some(STOPPED));
    assert_eq!(recorded(path).len(), 3);
}

#[test]
fn what_a_killed_recorder_was_told_is_added_by_the_next() {
    let folder = folder(Some(&[opening(), call("1", "recorded one")]));
    let path = folder.path();
    let options = ["--mode", "new-episodes", "--durability", "written"];
    let mut first = Session::start(command(path, &options));
    open(&mut first);
    assert_eq!(say(&mut first, 2, "2"), "live two");
    first.child.kill().unwrap();
    wait(&mut first.child, LIMIT);
    assert!(path.join("tape.new.tape.jsonl").exists());
    assert_eq!(recorded(path).len(), 2);

    let mut second = Session::start(command(path, &options));
    open(&mut second);
    assert_eq!(say(&mut second, 1, "2"), "live two");
    let mut said = second.child.stderr.take().unwrap();
    assert_eq!(second.finish(LIMIT).code(), Some(0));
    assert_eq!(starts(path), 1, "it is known now");
    assert_eq!(recorded(path).len(), 3);
    assert!(!path.join("tape.new.tape.jsonl").exists());
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert!(
        text.contains("added 1 new exchange of a recorder that was stopped to tape.json"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn a_client_that_has_left_is_sent_no_error_and_the_cassette_is_updated() {
    use std::io::Write as _;

    use crate::support::record;

    // The second request has no answer when the client leaves.
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}"#;
    let server = format!(
        "while read -r line; do case \"$line\" in *initialize\\\"*) echo '{reply}';; *tools/list*) echo '{answer}';; esac; done"
    );
    let folder = folder(Some(&[opening()]));
    let cassette = folder.path().join("tape.json");
    let options = ["-o", cassette.to_str().unwrap(), "--mode", "new-episodes"];
    let mut command = record(&options, &["sh", "-c", &server]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"slow"}}"#,
    ] {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(wait(&mut child, LIMIT).code(), Some(0));
    assert!(!said.contains("error"), "{said}");
    assert!(said.contains(answer), "{said}");
    assert_eq!(
        recorded(folder.path()).len(),
        2,
        "what was answered is added"
    );
}

#[cfg(unix)]
#[test]
fn a_signal_reaches_the_live_server_and_its_status_is_ours() {
    use std::os::unix::process::ExitStatusExt as _;

    use crate::support::record;

    // It reads until the first request; then it only waits for a signal.
    let reply = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}"#;
    let server = format!(
        "trap 'exit 7' TERM INT; while read -r line; do case \"$line\" in *initialize\\\"*) echo '{reply}';; *tools/list*) echo '{answer}'; while :; do sleep 0.05; done;; esac; done"
    );
    for name in ["TERM", "INT"] {
        let folder = folder(Some(&[opening()]));
        let cassette = folder.path().join("tape.json");
        let options = ["-o", cassette.to_str().unwrap(), "--mode", "new-episodes"];
        let mut session = Session::start(record(&options, &["sh", "-c", &server]));
        open(&mut session);
        session.send(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
        assert_eq!(session.line(), answer);
        session.signal(name);
        // The client's end of the pipe stays open.
        assert_eq!(wait(&mut session.child, LIMIT).code(), Some(7), "{name}");
        assert_eq!(recorded(folder.path()).len(), 2);
    }
    // Without a live server the recording ends like a process.
    let folder = folder(Some(&[opening()]));
    let cassette = folder.path().join("tape.json");
    let options = ["-o", cassette.to_str().unwrap(), "--mode", "new-episodes"];
    let mut session = Session::start(record(&options, &["sh", "-c", &server]));
    open(&mut session);
    session.signal("TERM");
    assert_eq!(wait(&mut session.child, LIMIT).signal(), Some(15));
}
