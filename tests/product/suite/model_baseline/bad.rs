//! Invalid files, and their errors.

use serde_json::{Value, json};

use crate::cli::golden::{folder, golden};

fn baseline() -> Value {
    json!({
        "schema": "https://mcptest.sh/schema/model-compat/v1.json", "version": 1,
        "model_id": "anthropic:claude-sonnet-4.5", "model_version": "20251022", "mcptest_version": "0.1.0",
        "server_version": "1.0.0", "server_config_hash": "sha256:b3e1",
        "config_fingerprint": {"invariants": [], "variances": []},
        "assertions": [
            {"id": "a.yml::t::step-1", "content": [], "tool_calls": [], "finish_reason": "stop"}
        ],
        "invariants": []
    })
}

#[test]
fn bad_baselines_are_refused_with_a_pointer() {
    let good = baseline().to_string();
    let mut twice = baseline();
    let first = twice["assertions"][0].clone();
    twice["assertions"].as_array_mut().unwrap().push(first);
    let mut newer = baseline();
    newer["version"] = json!(2);
    let mut ended = baseline();
    ended["assertions"][0]["finish_reason"] = json!("end_turn");
    let mut invariant = baseline();
    invariant["invariants"] =
        json!([{"name": "x", "kind": "arg_present", "condition": {"tool": "t"}}]);
    assert_eq!(super::misfits(&baseline()), Vec::<String>::new());
    for (case, text) in [
        ("model_baseline_same_id", twice.to_string()),
        ("model_baseline_version", newer.to_string()),
        ("model_baseline_finish_reason", ended.to_string()),
        ("model_baseline_invariant", invariant.to_string()),
        (
            "model_baseline_no_json",
            "{\"assertions\": [{\"id\": }]}".to_owned(),
        ),
        (
            "model_baseline_member_twice",
            good.replace("\"version\":1", "\"version\":1,\"version\":1"),
        ),
    ] {
        // A schema cannot detect duplicates.
        let is_about_two = case.ends_with("same_id") || case.ends_with("twice");
        let read: Result<Value, _> = serde_json::from_str(&text);
        if let Some(read) = read.ok().filter(|_| !is_about_two) {
            assert!(!super::misfits(&read).is_empty(), "the schema takes {case}");
        }
        let folder = folder(&[("base.json", &good), ("bad.json", &text)]);
        golden(
            case,
            folder.path(),
            &["model-baseline", "diff", "base.json", "bad.json"],
        );
    }
}

#[test]
fn reports_are_as_they_were() {
    let mut candidate = baseline();
    candidate["model_id"] = json!("anthropic:claude-opus-5");
    candidate["assertions"][0]["content"] = json!([{"type": "text", "text": "more"}]);
    candidate["assertions"][0]["finish_reason"] = json!("max_tokens");
    let (good, candidate) = (baseline().to_string(), candidate.to_string());
    let folder = folder(&[("base.json", &good), ("new.json", &candidate)]);
    for format in ["pretty", "json", "markdown", "github"] {
        let words = [
            "model-baseline",
            "diff",
            "base.json",
            "new.json",
            "--format",
            format,
        ];
        golden(&format!("model_baseline_{format}"), folder.path(), &words);
    }
}

#[test]
fn what_cannot_be_captured_is_told() {
    let good = baseline().to_string();
    let folder = folder(&[("base.json", &good), ("other.json", "{\"mine\": 1}")]);
    let golden = |case, words: &[&str]| golden(case, folder.path(), words);
    golden("model_baseline_no_source", &["model-compat", "capture"]);
    let over = [
        "model-baseline",
        "capture",
        "--input",
        "base.json",
        "-o",
        "other.json",
    ];
    golden("model_baseline_over_another_file", &over);
    let none = [
        "model-baseline",
        "capture",
        "--input",
        "base.json",
        "--filter",
        "nothing*",
    ];
    golden("model_baseline_nothing", &none);
    golden(
        "model_baseline_missing",
        &["model-baseline", "diff", "base.json", "gone.json"],
    );
    let runs = [
        "model-baseline",
        "capture",
        "--input",
        "base.json",
        "--runs",
        "3",
    ];
    golden("model_baseline_runs_of_a_file", &runs);
}
