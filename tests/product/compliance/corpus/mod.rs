//! Rules of revisions, carried out: live, over recordings, and against servers that break them.

mod asking;
mod captured;
mod cassettes;
mod controls;
mod formats;
mod live;
mod official;
mod results;
mod scripted;
mod suites;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::system::ANSWER_LIMIT;
use crate::support::{peer, tapewright};

/// The versions, and the properties of each.
const VERSIONS: [&str; 5] = [
    "v2024-11-05",
    "v2025-03-26",
    "v2025-06-18",
    "v2025-11-25",
    "v2026-07-28",
];

/// How long to wait for an answer of a server that breaks rules, in seconds: most of them are answers that do not come.
const SILENCE: &str = "3";

/// `compliance run` with these arguments.
fn run(arguments: &[&str]) -> Output {
    let mut command = tapewright();
    command.args(["compliance", "run"]).args(arguments);
    command.env_remove("CI").output().expect("it runs")
}

/// The report of a run as JSON, and its exit status.
#[track_caller]
fn report(arguments: &[&str]) -> (Value, i32) {
    let output = run(&[&["--format", "json"], arguments].concat());
    let status = output.status.code().expect("a status");
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        panic!("{error}: {printed}\n{said}")
    });
    (report, status)
}

/// The command of the scripted server, with these violations.
fn scripted<'a>(peer: &'a str, broken: &[&'a str]) -> Vec<&'a str> {
    [&[peer, "corpus"], broken].concat()
}

/// The report of a run against the scripted server.
#[track_caller]
fn judged(version: &str, broken: &[&str]) -> (Value, i32) {
    let peer = peer().display().to_string();
    let server = scripted(&peer, broken);
    let limit = if broken.is_empty() {
        ANSWER_LIMIT
    } else {
        SILENCE
    };
    report(
        &[
            &["--spec-version", version, "--timeout", limit, "--"],
            server.as_slice(),
        ]
        .concat(),
    )
}

/// The result of each rule that was tested.
fn verdicts(report: &Value) -> BTreeMap<String, bool> {
    let results = report["results"].as_array().expect("results");
    let one = |row: &Value| {
        let id = row["rule_id"].as_str()?.to_owned();
        Some((id, row["passed"].as_bool()?))
    };
    results.iter().filter_map(one).collect()
}

/// The rules that failed, with their messages.
fn failed(report: &Value) -> BTreeMap<String, String> {
    let results = report["results"].as_array().expect("results");
    let failed = results.iter().filter(|row| row["passed"] == false);
    failed
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            (text("rule_id"), text("message"))
        })
        .collect()
}

/// The rules that were not tested, with why.
fn untested(report: &Value) -> BTreeMap<String, String> {
    let rows = report["untested"].as_array().expect("untested rules");
    rows.iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            (text("rule_id"), text("why"))
        })
        .collect()
}

/// A path as an argument.
fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
