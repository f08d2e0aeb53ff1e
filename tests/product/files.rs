//! The files of a recording: names, links, concurrency, and failing disks.

mod replaced;

use std::path::Path;
use std::time::Duration;

use tapewright_schemas::event::{Direction, EventBody};
use tapewright_schemas::json;

use crate::support::system::{HOME, STATE, assert_mode};
use crate::support::{Session, Tape, eventually, record, tapewright};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LIMIT: Duration = Duration::from_secs(60);

/// A server that answers each ping.
const ANSWER: &str = r#"while read line; do echo '{"jsonrpc":"2.0","id":1,"result":{}}'; done"#;

fn pings(output: &Path, count: usize) -> std::process::ExitStatus {
    let mut session = Session::start(record(
        &["-o", output.to_str().unwrap()],
        &["sh", "-c", ANSWER],
    ));
    for _ in 0..count {
        session.send(PING);
        session.line();
    }
    session.finish(LIMIT)
}

fn exchanges(cassette: &Path) -> usize {
    let text = std::fs::read(cassette).unwrap();
    assert!(json::is_valid(&text));
    let mut count = 0;
    let exchanges = json::find(&text, &["exchanges"]).expect("exchanges");
    tapewright_schemas::envelope::for_each_message(exchanges, |_| count += 1);
    count
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_for_their_owner_alone_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("new/deep/fs.json");
    let capture = folder.path().join("new/deep/fs.capture.json");
    let options = [
        "-o",
        cassette.to_str().unwrap(),
        "--save-capture",
        capture.to_str().unwrap(),
    ];
    let mut session = Session::start(record(&options, &["sh", "-c", ANSWER]));
    session.send(PING);
    session.line();
    assert!(session.finish(LIMIT).success());
    let folder = folder.path().join("new/deep");
    assert_eq!(
        names(&folder),
        ["fs.capture.json", "fs.json", "fs.tape.jsonl"]
    );
    for name in names(&folder) {
        assert_mode(&folder.join(&name), 0o600);
    }
    assert_eq!(exchanges(&cassette), 1);
}

#[test]
fn every_output_makes_the_folders_that_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (cassette, log) = (place("a/b/fs.json"), place("log/b/fs.log"));
    let capture = place("capture/b/fs.json");
    let options = [
        "-o",
        &cassette,
        "--save-capture",
        &capture,
        "--log",
        &log,
        "--log-filter",
        "debug",
    ];
    let mut session = Session::start(record(&options, &["sh", "-c", ANSWER]));
    session.send(PING);
    session.line();
    assert!(session.finish(LIMIT).success());
    let page = place("page/b/fs.html");
    let report = place("report/b/fs.report.json");
    let again = place("again/b/fs.tape.jsonl");
    let other = place("other/b/fs.json");
    for arguments in [
        &["export", &cassette, "--as", "html", "-o", &page][..],
        &["export", &cassette, "--as", "cassette", "-o", &other],
        &["replay", &cassette, "--report", &report, "-o", &again],
    ] {
        let output = tapewright().args(arguments).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {told}");
    }
    for file in [cassette, log, capture, page, report, again, other] {
        assert!(Path::new(&file).is_file(), "{file}");
    }
}

#[test]
fn a_second_recording_takes_the_name_and_the_first_tape_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    assert!(pings(&cassette, 1).success());
    assert!(pings(&cassette, 3).success());
    assert_eq!(exchanges(&cassette), 3);
    assert_eq!(
        names(folder.path()),
        ["fs.2.tape.jsonl", "fs.json", "fs.tape.jsonl"]
    );
    assert_eq!(
        ["fs.tape.jsonl", "fs.2.tape.jsonl"].map(|name| {
            Tape::read(&folder.path().join(name))
                .messages(Direction::ToServer)
                .len()
        }),
        [3, 1]
    );
}

#[test]
fn a_second_tape_without_a_cassette_takes_the_name_unless_nothing_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("fs.tape.jsonl");
    for requests in [1, 3, 0] {
        assert!(pings(&tape, requests).success());
    }
    let requests = |name: &str| {
        let tape = Tape::read(&folder.path().join(name));
        tape.messages(Direction::ToServer).len()
    };
    assert_eq!(
        ["fs.tape.jsonl", "fs.2.tape.jsonl", "fs.3.tape.jsonl"].map(requests),
        [3, 1, 0]
    );
}

#[test]
fn an_empty_recording_never_replaces_a_cassette() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    let precious = r#"{"version":"1","exchanges":[]}"#;
    std::fs::write(&cassette, precious).unwrap();
    assert!(pings(&cassette, 0).success());
    assert_eq!(std::fs::read_to_string(&cassette).unwrap(), precious);
}

/// Runs a command that fails before it does anything; returns its message.
fn refused(arguments: &[&str]) -> String {
    let output = tapewright().args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_is_no_recording_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mine = [
        ("server.py", "import sys\n"),
        (
            "package.json",
            r#"{"name":"x","version":"1","exchanges":[]}"#,
        ),
        ("notes.yaml", "servers: {}\n"),
    ];
    for (name, text) in mine {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    assert!(pings(&folder.path().join("fs.json"), 1).success());
    for (name, text) in mine {
        let (file, other, fs) = (path(name), path("other.json"), path("fs.json"));
        let server = ["--", "sh", "-c", ANSWER];
        let commands: [&[&str]; 6] = [
            &[&["record", "-o", &file][..], &server].concat(),
            &[
                &["record", "-o", &other, "--save-capture", &file][..],
                &server,
            ]
            .concat(),
            &["replay", &fs, "-o", &file],
            &["export", &fs, "--as", "capture", "-o", &file],
            &["export", &fs, "--as", "tape", "-o", &file],
            &["export", &fs, "--as", "suite", "-o", &file],
        ];
        for command in commands {
            let said = refused(command);
            assert!(said.contains("already exists"), "{said}");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
    // One file cannot be two.
    let both = path("both.json");
    let said = refused(&["record", "-o", &both, "--save-capture", &both, "--", "true"]);
    assert!(said.contains("are the same file"), "{said}");
    // An empty file, as `mktemp` makes them, and a recording are replaced.
    for text in ["", r#"{"server_label":"x","exchanges":[]}"#] {
        std::fs::write(folder.path().join("any.json"), text).unwrap();
        assert!(pings(&folder.path().join("any.json"), 1).success());
        assert_eq!(exchanges(&folder.path().join("any.json")), 1);
    }
}

#[test]
fn a_recording_that_never_began_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    let mut session = Session::start(record(
        &["-o", cassette.to_str().unwrap()],
        &["/no/such/command"],
    ));
    assert_eq!(session.line(), "");
    assert_eq!(session.finish(LIMIT).code(), Some(2));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn recorders_of_one_name_lose_and_mix_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    let start = || {
        Session::start(record(
            &["-o", cassette.to_str().unwrap()],
            &["sh", "-c", ANSWER],
        ))
    };
    let mut sessions = [start(), start(), start()];
    for (number, session) in sessions.iter_mut().enumerate() {
        for _ in 0..=number {
            session.send(PING);
            session.line();
        }
    }
    for session in sessions {
        assert!(session.finish(LIMIT).success());
    }
    let cassettes = ["fs.json", "fs.2.json", "fs.3.json", "fs.4.json"];
    let mut found: Vec<usize> = cassettes
        .iter()
        .map(|name| folder.path().join(name))
        .filter(|path| path.exists())
        .map(|path| exchanges(&path))
        .collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3], "{:?}", names(folder.path()));
    // Each tape has the name of the cassette that was made from it.
    for number in ["", ".2", ".3"] {
        let path = |ending| folder.path().join(format!("fs{number}{ending}"));
        assert_eq!(
            Tape::read(&path(".tape.jsonl"))
                .messages(Direction::ToServer)
                .len(),
            exchanges(&path(".json")),
            "{:?}",
            names(folder.path())
        );
    }
}

#[test]
fn a_probe_gives_way_to_the_session_that_follows() {
    // The TypeScript client starts its server twice at once to determine the era.
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    let start = || {
        Session::start(record(
            &["-o", cassette.to_str().unwrap()],
            &["sh", "-c", ANSWER],
        ))
    };
    let (mut probe, mut session) = (start(), start());
    session.send(PING);
    session.line();
    probe.send(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#);
    probe.line();
    assert!(probe.finish(LIMIT).success());
    assert!(session.finish(LIMIT).success());
    let text = std::fs::read_to_string(&cassette).unwrap();
    assert!(text.contains(r#""method":"ping""#), "{text}");
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.json");
    std::fs::create_dir(folder.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real/fs.json", &link).unwrap();
    assert!(pings(&link, 1).success());
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        names(&folder.path().join("real")),
        ["fs.json", "fs.tape.jsonl"]
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    // There is a file in place of the folder, so nothing can be written there.
    std::fs::write(folder.path().join("file"), "").unwrap();
    let started = folder.path().join("started");
    let touch = started.to_str().unwrap();
    for (option, name, words) in [
        ("-o", "file/fs.json", "is not a folder"),
        ("-o", "file/fs.tape.jsonl", "is not a folder"),
        ("-o", "file/folder/", "cannot write to"),
        ("--save-capture", "file/fs.capture.json", "is not a folder"),
        ("--log", "file/fs.log", "is not a folder"),
    ] {
        let output = folder.path().join(name);
        let output = output.to_str().unwrap();
        let said = refused(&["record", option, output, "--", "touch", touch]);
        assert!(said.contains(words), "{said}");
        assert!(!started.exists());
    }
}

#[test]
fn a_folder_that_goes_away_stops_no_traffic_and_is_told() {
    for durability in ["queue", "written", "synced"] {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("deep");
        let output = deep.join("fs.json");
        let options = ["--durability", durability, "-o", output.to_str().unwrap()];
        let mut session = Session::start(record(&options, &["sh", "-c", ANSWER]));
        for number in 0..50 {
            session.send(PING);
            assert_eq!(session.line(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            if number == 0 {
                // The writer may be later than the bytes, and would create the folder again.
                assert!(eventually(LIMIT, || deep.join("fs.tape.jsonl").exists()));
                std::fs::remove_dir_all(&deep).unwrap();
            }
        }
        assert_eq!(session.finish(LIMIT).code(), Some(3), "{durability}");
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_stops_no_traffic_and_is_told_by_status_and_tape() {
    for durability in ["queue", "written"] {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("fs.tape.jsonl");
        // A limit on the size of files simulates a full disk: writes begin to fail.
        let mut command = std::process::Command::new("sh");
        let script = "ulimit -f 64; exec \"$@\"";
        command.args([
            "-c",
            script,
            "sh",
            env!("CARGO_BIN_EXE_tapewright"),
            "record",
        ]);
        command.args(["--durability", durability, "-o", output.to_str().unwrap()]);
        command.args(["--", "sh", "-c", ANSWER]);
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        let mut session = Session::start(command);
        // Twice as much as fits, whatever unit the shell counts in.
        for _ in 0..800 {
            session.send(PING);
            assert_eq!(session.line(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        }
        assert_eq!(session.finish(LIMIT).code(), Some(3), "{durability}");
        let tape = Tape::read(&output);
        assert!(!tape.is_complete());
        assert!(
            tape.events.len() > 20,
            "{durability}: {}",
            tape.events.len()
        );
    }
}

#[test]
fn without_a_name_the_tape_goes_to_the_state_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, below) in [("TAPEWRIGHT_HOME", ""), (STATE, "tapewright")] {
        let home = folder.path().join(variable);
        let mut command = record(&["--label", "my server"], &["true"]);
        command.env(variable, &home);
        assert!(Session::start(command).finish(LIMIT).success());
        let found = names(&home.join(below));
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains("-my_server-") && found[0].ends_with(".tape.jsonl"),
            "{found:?}"
        );
    }
}

#[test]
fn what_was_asked_for_and_what_came_are_on_the_tape() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("fs.tape.jsonl");
    let mut command = record(
        &["-o", output.to_str().unwrap()],
        &["sh", "-c", "echo up >&2; printf 'no end' >&2"],
    );
    // A folder below the user's own would be recorded as `~`.
    command.current_dir(folder.path()).env(HOME, "/nonexistent");
    assert!(Session::start(command).finish(LIMIT).success());
    let tape = Tape::read(&output);
    assert_eq!(tape.header.command[..2], ["sh", "-c"]);
    let canonical = |path: &Path| path.canonicalize().unwrap();
    assert_eq!(
        canonical(Path::new(&tape.header.cwd)),
        canonical(folder.path())
    );
    assert!(tape.header.env_names.iter().any(|name| name == "PATH"));
    let stderr: Vec<_> = tape
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Stderr { line, .. } => Some(line.to_vec()),
            _ => None,
        })
        .collect();
    assert_eq!(stderr, [b"up".to_vec(), b"no end".to_vec()]);
}

#[test]
fn a_recorder_that_was_killed_leaves_a_tape_that_is_found_in_the_cassettes_place() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("fs.json");
    let mut session = Session::start(record(
        &["-o", cassette.to_str().unwrap()],
        &["sh", "-c", ANSWER],
    ));
    session.send(PING);
    session.line();
    let tape = folder.path().join("fs.tape.jsonl");
    assert!(eventually(LIMIT, || {
        std::fs::read_to_string(&tape).is_ok_and(|text| text.contains("\"result\""))
    }));
    session.signal("KILL");
    session.finish(LIMIT);
    assert!(!cassette.exists());
    let output = tapewright().arg("inspect").arg(&cassette).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("fs.tape.jsonl"),
        "{output:?}"
    );
    let output = tapewright()
        .arg("export")
        .arg(&cassette)
        .args(["--as", "cassette"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains(r#""method":"ping""#));
}

#[cfg(unix)]
#[test]
fn a_recorder_without_a_tape_says_why_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let mut command = record(&[], &["true"]);
    command
        .env("TAPEWRIGHT_HOME", file.join("nope"))
        .stderr(std::process::Stdio::piped());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("cannot create the tape"), "{errors}");
}
