//! Results from a file, baselines, and the exit status.

use std::fs;

use serde_json::{Value, json};

use super::{failed, judged, report, text};

/// A file of results.
fn results(rows: &Value) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("results.json");
    fs::write(&file, rows.to_string()).expect("a file");
    (folder, file)
}

fn row(id: &str, passed: bool) -> Value {
    json!({ "rule_id": id, "passed": passed, "source": "official", "message": null, "duration_ms": 3 })
}

#[test]
fn results_of_others_are_graded_and_a_rule_without_one_is_untested() {
    let (_folder, file) = results(&json!([row("PROTO-002", true)]));
    let (one, status) = report(&["--results-from", text(&file)]);
    // An untested MAY rules out the best grade.
    assert_eq!((one["grade"].as_str(), status), (Some("A"), 0), "{one:#}");
    assert!(one["completeness"].as_f64() < Some(1.0), "{one:#}");
    assert_eq!(one["results"][0]["source"], "official");
    let (_folder, file) = results(&json!({ "results": [row("PROTO-002", false)] }));
    let (one, status) = report(&["--results-from", text(&file)]);
    assert_eq!((one["grade"].as_str(), status), (Some("F"), 1), "{one:#}");
    // A test that belongs to no rule affects the exit status, but not the grade.
    let (_folder, file) = results(&json!([
        row("PROTO-002", true),
        row("their-own-check", false)
    ]));
    let (one, status) = report(&["--results-from", text(&file)]);
    assert_eq!((one["grade"].as_str(), status), (Some("A"), 1), "{one:#}");
}

#[test]
fn results_that_cannot_be_read_cannot_be_judged() {
    let (_folder, file) = results(&json!({ "rows": [] }));
    let output = super::run(&["--results-from", text(&file)]);
    assert_eq!(output.status.code(), Some(2));
    let (_folder, file) = results(&json!([]));
    let (_, status) = report(&["--results-from", text(&file)]);
    assert_eq!(status, 3, "nothing was tested");
}

#[test]
fn a_must_that_fails_is_told_to_the_caller() {
    let (report, status) = judged("v2024-11-05", &["drop", "initialize", "/capabilities"]);
    assert_eq!(status, 1, "{report:#}");
    assert_eq!(report["grade"], "F");
    let failed_must = report["failed_must"].as_array().expect("rules");
    assert!(failed_must.contains(&json!("PROTO-002")), "{report:#}");
    assert!(failed(&report).contains_key("PROTO-002"));
}
