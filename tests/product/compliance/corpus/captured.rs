//! What is found live is found on the recording of it.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use super::{VERSIONS, report, scripted, text, untested, verdicts};
use crate::support::{peer, signal, tapewright, wait};

/// Broken in several ways at once, so that there is something to find.
const BROKEN: [&str; 10] = [
    "drop",
    "tools/list",
    "/tools/0/inputSchema",
    "set",
    "prompts/get",
    "/messages",
    "7",
    "code",
    "-32601",
    "-32000",
];

/// What was tested on both sides, side by side.
#[track_caller]
fn same(live: &Value, recorded: &Value, what: &str) {
    let (live_verdicts, recorded_verdicts) = (verdicts(live), verdicts(recorded));
    let differ: BTreeMap<&String, (&bool, &bool)> = live_verdicts
        .iter()
        .filter_map(|(id, live)| Some((id, (live, recorded_verdicts.get(id)?))))
        .filter(|(_, (live, recorded))| live != recorded)
        .collect();
    assert_eq!(differ, BTreeMap::new(), "{what}: {live:#}\n{recorded:#}");
    let lost: Vec<(&String, Option<&String>)> = Vec::new();
    let reasons = untested(recorded);
    let lost = live_verdicts
        .keys()
        .filter(|id| !recorded_verdicts.contains_key(*id))
        .fold(lost, |mut lost, id| {
            lost.push((id, reasons.get(id)));
            lost
        });
    assert_eq!(lost, [], "{what}: tested live, and not over the recording");
}

fn over_stdio(version: &str, broken: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let tape = folder.path().join("run.tape.jsonl");
    let ours = tapewright().get_program().to_owned();
    let ours = ours.to_str().expect("a plain path").to_owned();
    let peer = peer().display().to_string();
    let server = scripted(&peer, broken);
    let before = [
        "--spec-version",
        version,
        "--timeout",
        "3",
        "--",
        &ours,
        "record",
        "-o",
        text(&tape),
        "--",
    ];
    let (live, _) = report(&[&before, server.as_slice()].concat());
    // A conversation each: the first is the one with everything that is no noise.
    let tapes = tapes(folder.path());
    let all: Vec<Value> = tapes
        .iter()
        .map(|tape| report(&["--spec-version", version, "--capture", tape]).0)
        .collect();
    let merged = merged(&all);
    same(&live, &merged, version);
}

/// The tapes of a folder, in order.
fn tapes(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut all: Vec<String> = entries
        .map(|entry| entry.expect("an entry").path().display().to_string())
        .filter(|path| path.ends_with(".tape.jsonl"))
        .collect();
    all.sort();
    all
}

/// Reports on several conversations as one: a failure in one is enough.
fn merged(all: &[Value]) -> Value {
    let mut rows: BTreeMap<String, Value> = BTreeMap::new();
    for row in all
        .iter()
        .flat_map(|one| one["results"].as_array().expect("results"))
    {
        let id = row["rule_id"].as_str().expect("an id").to_owned();
        let known = rows.entry(id).or_insert_with(|| row.clone());
        if row["passed"] == false {
            *known = row.clone();
        }
    }
    let untested = all
        .first()
        .map_or(Value::Null, |one| one["untested"].clone());
    serde_json::json!({ "results": rows.into_values().collect::<Vec<_>>(), "untested": untested })
}

#[test]
fn over_stdio_a_recording_gives_the_verdicts_of_the_run() {
    for version in VERSIONS {
        over_stdio(version, &[]);
    }
}

#[test]
fn over_stdio_what_breaks_is_found_on_the_recording_too() {
    for version in VERSIONS {
        over_stdio(version, &BROKEN);
    }
}

#[test]
fn over_http_a_recording_gives_the_verdicts_of_the_run() {
    for (version, broken) in VERSIONS
        .into_iter()
        .flat_map(|one| [(one, &[][..]), (one, &BROKEN[..])])
    {
        let folder = tempfile::tempdir().expect("a folder");
        let tape = folder.path().join("run.tape.jsonl");
        let peer = peer().display().to_string();
        let mut command = tapewright();
        command.args(["record", "--listen", "127.0.0.1:0", "-o", text(&tape), "--"]);
        command.args(scripted(&peer, broken));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut gateway = command.spawn().expect("the recorder starts");
        let mut said = String::new();
        let output = gateway.stdout.take().expect("a pipe");
        std::io::BufReader::new(output)
            .read_line(&mut said)
            .expect("a line");
        let said: Value = serde_json::from_str(&said).expect("where it listens");
        let url = said["listening"].as_str().expect("a URL").to_owned();
        let (live, _) = report(&[
            "--spec-version",
            version,
            "--timeout",
            "3",
            "--upstream",
            &url,
        ]);
        signal(gateway.id(), "TERM");
        wait(&mut gateway, Duration::from_secs(10));
        let (recorded, _) = report(&["--spec-version", version, "--capture", text(&tape)]);
        same(&live, &recorded, version);
    }
}
