//! Suites with a pinned revision, their gates, and lists of known failures.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{failed, report, text};
use crate::support::peer;

/// The violation of the scripted server here: PROTO-002, and other rules that find the same.
const BROKEN: &[&str] = &["drop", "initialize", "/capabilities"];

/// A suite whose server breaks these things, with these further lines in its `compliance` block.
fn suite(broken: &[&str], block: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("suite.yaml");
    let peer = peer().display().to_string();
    let command: Vec<&str> = [&[peer.as_str(), "corpus"], broken].concat();
    let command = serde_json::to_string(&command).expect("JSON");
    let text = format!(
        "servers:\n  s: {{ command: {command} }}\ncompliance:\n{block}  tests:\n    - name: PROTO-001 opens\n      server: s\n      \
         check: initialize\n      expect:\n        - target: result.protocolVersion\n          matcher: {{ regex: \"^20\" }}\n"
    );
    fs::write(&file, text).expect("a file");
    (folder, file)
}

/// Whether each gate passes, by its name.
fn gates(report: &Value) -> Vec<(&str, bool)> {
    let gates = report["gates"].as_array().expect("gates");
    gates
        .iter()
        .map(|gate| {
            (
                gate["gate"].as_str().expect("a name"),
                gate["passed"] == true,
            )
        })
        .collect()
}

#[test]
fn a_pinned_suite_is_red_where_the_revision_to_move_to_changes_a_rule() {
    for (against, holds) in [("draft", true), ("v2025-06-18", false)] {
        let block = format!(
            "  spec_version: v2024-11-05\n  spec_version_check: {{ against: {against} }}\n"
        );
        let (_folder, file) = suite(&[], &block);
        let (report, status) = report(&["--from-suite", text(&file)]);
        assert_eq!(
            gates(&report),
            [("spec_version_check", holds)],
            "{report:#}"
        );
        assert_eq!(status, i32::from(!holds), "{report:#}");
        let said = report["gates"][0]["text"].as_str().expect("a text");
        assert_eq!(said.contains("PROTO-002"), !holds, "{said}");
    }
}

#[test]
fn a_pin_that_nobody_knows_fails_the_load() {
    let (_folder, file) = suite(&[], "  spec_version: v2025-6-18\n");
    let output = super::run(&["--from-suite", text(&file)]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("v2025-6-18") && output.stdout.is_empty(),
        "{said}"
    );
}

#[test]
fn a_score_that_fell_is_red() {
    let (folder, file) = suite(&[], "  spec_version: v2024-11-05\n");
    let saved = folder.path().join("score.json");
    let (_, status) = report(&[
        "--from-suite",
        text(&file),
        "--save-scorecard",
        text(&saved),
    ]);
    assert_eq!(status, 0);
    let block = "  spec_version: v2024-11-05\n  grade_delta: { against: score.json }\n";
    for (broken, holds) in [(&[] as &[&str], true), (BROKEN, false)] {
        let (other, file) = suite(broken, block);
        fs::copy(&saved, other.path().join("score.json")).expect("a copy");
        let (report, _) = report(&["--from-suite", text(&file)]);
        assert_eq!(gates(&report), [("grade_delta", holds)], "{report:#}");
    }
}

#[test]
fn known_failures_are_expected_until_they_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let known = folder.path().join("known.yml");
    let peer = peer().display().to_string();
    let ask = |broken: &[&str], more: &[&str]| {
        let options = ["--spec-version", "v2024-11-05", "--baseline", text(&known)];
        report(&[&options, more, &["--", peer.as_str(), "corpus"], broken].concat())
    };
    let (first, status) = ask(BROKEN, &["--update-baseline"]);
    assert_eq!(status, 0, "{first:#}");
    let written = fs::read_to_string(&known).expect("a list");
    for id in failed(&first).keys() {
        assert!(written.contains(id), "{written}");
    }
    assert!(written.contains("PROTO-002"), "{written}");
    let (_, status) = ask(BROKEN, &[]);
    assert_eq!(status, 0, "what is listed is expected");
    let (_, status) = ask(&[], &[]);
    assert_eq!(status, 1, "what is listed and holds is stale");
    fs::write(&known, "server: []\n").expect("a file");
    let (_, status) = ask(BROKEN, &[]);
    assert_eq!(status, 1, "what is not listed is a regression");
}
