//! The interface for users: arguments, exit statuses, and output.

use std::fs;
use std::process::{Command, Output};

use crate::support::{Fleet, Recorder, eventually};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// A fleet with one shipped tape. Returns the tape's bytes.
fn shipped() -> (Fleet, Vec<u8>) {
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.events(20);
    let bytes = recorder.end();
    let output = fleet
        .ship(&["--once", "--segment-bytes", "1KiB"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(
        (text(&output.stdout), text(&output.stderr)),
        (String::new(), String::new())
    );
    (fleet, bytes)
}

#[test]
fn a_tape_is_shipped_listed_and_fetched() {
    let (fleet, bytes) = shipped();
    let listed = text(&fleet.run(&["ls"]).stdout);
    assert!(listed.starts_with("g1/20261126T031500Z-"), "{listed}");
    assert!(
        listed.contains("  files  20 events  0 exchanges  0 findings  ")
            && listed.ends_with("  whole\n"),
        "{listed}"
    );
    let folder = tempfile::tempdir().unwrap();
    let into = folder.path().to_str().unwrap();
    let fetched = fleet.run(&["fetch", "g1/2026", "-o", into]);
    assert_eq!(status(&fetched), 0, "{fetched:?}");
    let path = text(&fetched.stdout);
    assert!(path.ends_with(".tape.jsonl\n"), "{path}");
    assert_eq!(fs::read(path.trim_end()).unwrap(), bytes);
    // An existing file is not overwritten.
    let again = fleet.run(&["fetch", "g1/2026", "-o", into]);
    assert_eq!(status(&again), 2);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn what_is_missing_or_changed_in_the_store_is_said() {
    let (fleet, bytes) = shipped();
    let mut segments = Vec::new();
    let mut folders = vec![fleet.store.path().join("segments")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                segments.push(path);
            }
        }
    }
    segments.sort();
    let third = &segments[2];
    let mut changed = fs::read(third).unwrap();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    for (what, change) in [
        ("SHA-256", Some(changed)),
        ("length", Some(Vec::new())),
        ("missing", None),
    ] {
        match change {
            Some(bytes) => fs::write(third, bytes).unwrap(),
            None => fs::remove_file(third).unwrap(),
        }
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().to_str().unwrap();
        let fetched = fleet.run(&["fetch", "g1/2026", "-o", into]);
        assert_eq!(status(&fetched), 3, "{fetched:?}");
        let told = text(&fetched.stderr);
        assert!(
            told.contains("the rest is missing: segment") && told.contains(what)
                || told.contains("decompressed"),
            "{told}"
        );
        let part = fs::read(text(&fetched.stdout).trim_end()).unwrap();
        assert!(part.len() > 1_000 && part.len() < bytes.len() && bytes.starts_with(&part));
    }
}

#[test]
fn an_entry_that_is_missing_is_said() {
    let (fleet, _) = shipped();
    let tape = fleet.list()[0]["tape"].as_str().unwrap().to_owned();
    let folder = fleet.store.path().join("manifests/g1").join(tape);
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|one| one.unwrap().path())
        .collect();
    entries.sort();
    fs::remove_file(&entries[1]).unwrap();
    let listed = fleet.run(&["ls"]);
    assert_eq!(status(&listed), 3);
    let told = text(&listed.stdout);
    assert!(
        told.contains("damaged  bytes ") && told.contains(" are missing"),
        "{told}"
    );
}

#[test]
fn a_shipper_follows_until_it_is_told_to_stop_and_ships_what_is_left() {
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.events(5);
    let child = fleet.ship(&["--json", "--verbose"]).spawn().unwrap();
    // Signals are installed once it checks the folder for the second time.
    let mut other = Recorder::begin(fleet.tapes.path(), "other");
    other.events(1);
    let other = other.end();
    eventually("the tape that has ended is shipped", || {
        fleet.list().len() == 1
    });
    let id = i32::try_from(child.id()).unwrap();
    let id = rustix::process::Pid::from_raw(id).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(status(&output), 0, "{output:?}");
    let rows = fleet.list();
    assert_eq!(rows.len(), 2);
    let state = |label: &str| {
        let row = rows.iter().find(|row| row["label"] == label).unwrap();
        (
            row["state"].as_str().unwrap().to_owned(),
            row["bytes"].as_u64().unwrap(),
        )
    };
    assert_eq!(state("other"), ("whole".to_owned(), other.len() as u64));
    let length = fs::metadata(&recorder.path).unwrap().len();
    assert_eq!(state("files"), ("open".to_owned(), length));
    let told = text(&output.stderr);
    let events: Vec<serde_json::Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["event"], "started");
    assert!(events.iter().any(|event| event["event"] == "shipped"));
}

/// A field of `proc_pid_stat(5)` for each thread of a process.
fn of_threads(process: u32, field: usize) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let stats =
        threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("stat")).ok());
    let value = |stat: String| -> i32 {
        let behind_name = stat.rsplit(')').next().unwrap();
        let mut fields = behind_name.split_whitespace();
        fields.nth(field - 3).unwrap().parse().unwrap()
    };
    stats.map(value).collect()
}

const NICENESS: usize = 19;
const POLICY: usize = 41;
const SCHED_IDLE: i32 = 5;

/// The value of a field for all threads of a shipper that is started like this.
fn of_shipper(fleet: &Fleet, command: &mut Command, field: usize) -> i32 {
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.events(3);
    recorder.end();
    let mut shipper = command.spawn().unwrap();
    eventually("it has shipped", || fleet.events() == 3);
    let found = of_threads(shipper.id(), field);
    shipper.kill().unwrap();
    shipper.wait().unwrap();
    assert!(found.len() > 1, "{found:?}");
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
    found[0]
}

/// On a busy machine, a recorder has priority over its shipper.
#[test]
fn a_shipper_only_takes_processors_that_nobody_needs() {
    let fleet = Fleet::new();
    assert_eq!(
        of_shipper(&fleet, &mut fleet.ship_idle(&[]), POLICY),
        SCHED_IDLE
    );
}

#[test]
fn a_shipper_can_have_a_share_of_the_processors() {
    let ours = of_threads(std::process::id(), NICENESS)[0];
    for level in [0, 3, 10] {
        let fleet = Fleet::new();
        let nice = level.to_string();
        let mut command = fleet.ship_idle(&["--nice", &nice]);
        assert_eq!(of_shipper(&fleet, &mut command, NICENESS), level.max(ours));
    }
}

#[test]
fn wrong_arguments_are_refused_with_status_2() {
    let fleet = Fleet::new();
    let folder = fleet.tapes.path().to_str().unwrap();
    for (arguments, says) in [
        (
            vec!["ship", folder, "--to", "ftp://u:s3cr3t@h/"],
            "invalid store; write it like",
        ),
        (
            vec!["ship", folder, "--gateway", "a/b"],
            "invalid gateway name",
        ),
        (
            vec!["ship", folder, "--segment-age", "5"],
            "expected a duration such as",
        ),
        (
            vec!["ship", folder, "--segment-bytes", "0"],
            "expected a size such as",
        ),
        (
            vec!["ship", folder, "--nice", "20"],
            "expected `idle`, or a level from 0 to 19",
        ),
        (
            vec!["ship", folder, "--when-full", "drop-oldest"],
            "--buffer",
        ),
        (
            vec!["ship", "/nowhere/at/all", "--once"],
            "cannot read the folder",
        ),
        (
            vec!["fetch", "x", "-o", folder],
            "no such tape in the store",
        ),
        (
            vec!["ls", "--store", "file:///nowhere/at/all"],
            "cannot open the store",
        ),
        (vec!["ask"], "unrecognized subcommand"),
    ] {
        let output = fleet.run(&arguments);
        let told = text(&output.stderr);
        assert_eq!(status(&output), 2, "{arguments:?}");
        assert!(told.contains(says), "{arguments:?}: {told}");
    }
    let told = text(&fleet.run(&["sweep"]).stdout);
    assert!(
        told.starts_with("removed 0 tapes (0 B) and 0 segments"),
        "{told}"
    );
}

/// Names from a gateway cannot move the cursor or lead out of the folder.
#[test]
fn what_a_recorder_wrote_is_shown_escaped() {
    let fleet = Fleet::new();
    let path = fleet.tapes.path().join("x.tape.jsonl");
    let header = serde_json::json!({"tape": "2.4", "created": "../../x", "label": "a\u{1b}[2Jb"});
    fs::write(path, format!("{header}\n{{\"end\":{{\"at_us\":1}}}}\n")).unwrap();
    fleet.ship_all(&[]);
    let listed = text(&fleet.run(&["ls"]).stdout);
    assert!(listed.starts_with("g1/00000000T000000Z-"), "{listed}");
    assert!(
        listed.contains("a\\u{1b}[2Jb") && !listed.contains('\u{1b}'),
        "{listed}"
    );
}

/// The files of rows are listed for other engines, only the latest ones. In `tests/servers` another
/// engine reads them.
#[test]
fn the_files_with_rows_are_listed() {
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.calls(40);
    recorder.end();
    fleet.ship_all(&["--segment-bytes", "2KiB"]);
    assert_eq!(fleet.list()[0]["exchanges"], 40);
    let listed = text(&fleet.run(&["ls", "--files", "exchanges"]).stdout);
    let paths: Vec<&str> = listed.lines().collect();
    assert!(paths.len() > 2);
    for path in &paths {
        assert!(fs::read(path).unwrap().starts_with(b"PAR1"), "{path}");
    }
}

/// Secrets that a new rule finds in an old store are removed, and never printed.
#[test]
fn a_secret_is_scrubbed_out_of_a_store() {
    let fleet = Fleet::new();
    let mut recorder = Recorder::begin(fleet.tapes.path(), "files");
    recorder.calls(30);
    recorder.call_without_an_answer("slow", "ticket-4711-x");
    recorder.end();
    fleet.ship_all(&["--segment-bytes", "1KiB"]);
    let before = fleet.list();
    let rule = ["--redact-pattern", "ticket-[0-9]+-x"];
    let scrub = |more: &[&str]| {
        let output = fleet.run(&[&["scrub"][..], &rule, more].concat());
        assert_eq!(status(&output), 0, "{output:?}");
        text(&output.stdout)
    };
    let told = scrub(&["--dry-run"]);
    assert!(told.starts_with("would change g1/2026"), "{told}");
    let told = scrub(&[]);
    assert!(
        told.contains("changed 1 of 1 tapes in 1 segments: ") && !told.contains("4711"),
        "{told}"
    );
    let told = scrub(&["--json"]);
    assert!(told.contains("\"entries\": 0"), "{told}");
    let bytes = fleet.fetch("g1/2026");
    let tape = text(&bytes);
    assert!(
        !tape.contains("4711") && tape.contains("REDACTED"),
        "{tape}"
    );
    let mut after = fleet.list();
    after[0]["stored_bytes"] = before[0]["stored_bytes"].clone();
    assert_eq!(after, before);
    let wrong = fleet.run(&["scrub", "--redact-pattern", "("]);
    assert_eq!(status(&wrong), 2);
}
