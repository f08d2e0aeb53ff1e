//! Servers that send requests to their client, in the revisions with requests during a call, and in
//! those with requests within its result.

use std::time::Duration;

use serde_json::Value;

use super::{report, text, verdicts};
use crate::support::http::Gateway;
use crate::support::{peer, tapewright, wait};

const VERSIONS: [&str; 3] = ["v2025-06-18", "v2025-11-25", "v2026-07-28"];
const RULES: [&str; 5] = [
    "ELICIT-001",
    "ELICIT-002",
    "ROOTS-001",
    "SAMPLE-001",
    "SAMPLE-002",
];

/// Reports of a live run over stdio, and of its recordings.
fn over_stdio(version: &str, broken: &[&str]) -> [Value; 2] {
    let folder = tempfile::tempdir().expect("a folder");
    let tape = folder.path().join("run.tape.jsonl");
    let ours = tapewright().get_program().to_owned();
    let ours = ours.to_str().expect("a plain path").to_owned();
    let peer = peer().display().to_string();
    let (live, _) = report(
        &[
            ["--spec-version", version, "--", &ours, "record", "-o"].as_slice(),
            &[text(&tape), "--", &peer, "asks"],
            broken,
        ]
        .concat(),
    );
    let folder = text(folder.path());
    let (recorded, _) = report(&["--spec-version", version, "--capture", folder]);
    [live, recorded]
}

/// The same over HTTP.
fn over_http(version: &str) -> [Value; 2] {
    let peer = peer().display().to_string();
    let mut gateway = Gateway::start(&["--listen", "127.0.0.1:0", "--", &peer, "asks"]);
    let url = gateway.line["listening"].as_str().expect("a URL");
    let (live, _) = report(&["--spec-version", version, "--upstream", url]);
    gateway.signal("TERM");
    wait(&mut gateway.child, Duration::from_secs(10));
    let tape = gateway.tape();
    let (recorded, _) = report(&["--spec-version", version, "--capture", text(&tape)]);
    [live, recorded]
}

#[track_caller]
fn hold(reports: &[Value; 2], what: &str) {
    for (report, place) in reports.iter().zip(["live", "recorded"]) {
        let found = verdicts(report);
        for rule in RULES {
            assert_eq!(
                found.get(rule),
                Some(&true),
                "{what} {place} {rule}: {report:#}"
            );
        }
    }
}

#[test]
fn over_stdio_a_server_that_asks_its_client_gets_answers_and_goes_on() {
    for version in VERSIONS {
        hold(&over_stdio(version, &[]), version);
    }
}

#[test]
fn over_http_a_server_that_asks_its_client_gets_answers_and_goes_on() {
    for version in ["v2025-11-25", "v2026-07-28"] {
        hold(&over_http(version), version);
    }
}

#[test]
fn an_elicitation_without_a_schema_breaks_the_rule_live_and_on_the_recording() {
    for version in VERSIONS {
        for report in over_stdio(version, &["no-schema"]) {
            let found = verdicts(&report);
            assert_eq!(
                found.get("ELICIT-001"),
                Some(&false),
                "{version}: {report:#}"
            );
            assert_eq!(found.get("ROOTS-001"), Some(&true), "{version}: {report:#}");
        }
    }
}
