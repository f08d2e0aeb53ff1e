//! Live findings are also found in a recording of the session.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::{VERSIONS, report, scripted, text, untested, verdicts};
use crate::support::http::Gateway;
use crate::support::system::ANSWER_LIMIT;
use crate::support::{peer, tapewright, wait};

/// Several violations at once, so that there are findings.
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

/// The verdicts of both, compared.
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
        ANSWER_LIMIT,
        "--",
        &ours,
        "record",
        "-o",
        text(&tape),
        "--",
    ];
    let (live, _) = report(&[&before, server.as_slice()].concat());
    // Each conversation is on a separate tape.
    let (recorded, _) = report(&["--spec-version", version, "--capture", text(folder.path())]);
    same(&live, &recorded, version);
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
        let peer = peer().display().to_string();
        let server = scripted(&peer, broken);
        let server =
            Gateway::start(&[&["--listen", "127.0.0.1:0", "--"], server.as_slice()].concat());
        let url = server.line["listening"].as_str().expect("a URL");
        let mut gateway = Gateway::to_url(url, &[]);
        let url = gateway.line["listening"].as_str().expect("a URL");
        let before = ["--spec-version", version, "--timeout", ANSWER_LIMIT];
        let (live, _) = report(&[&before, ["--upstream", url].as_slice()].concat());
        gateway.signal("TERM");
        wait(&mut gateway.child, Duration::from_secs(10));
        let tape = gateway.tape();
        let (recorded, _) = report(&["--spec-version", version, "--capture", text(&tape)]);
        same(&live, &recorded, version);
        server.stop_quietly();
    }
}
