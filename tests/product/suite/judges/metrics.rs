//! `agents[].eval`: metrics of a run as separate rows.

use super::*;

/// An agent that adds, and is measured.
fn agent(eval: &str) -> String {
    with_peer(&format!(
        "agents:\n  - name: sums\n    model: claude-sonnet-4-5\n    servers: [peer]\n    prompt: What is 2 + 3?\n    eval:\n{eval}"
    ))
}

/// An agent and this judge: a request without tools is for the judge.
fn provider(sides: &Value) -> Provider {
    Provider::start(&json!({"key": KEY, "sides": sides, "turns": [
        {"tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
        {"text": "It is 5."},
    ]}))
}

#[test]
fn each_metric_is_a_row_of_its_own() {
    let stage = Stage::new();
    let provider = provider(&json!([
        {"when": "accomplish everything", "text": "{\"score\": 0.6, \"reason\": \"done\"}"},
        {"when": "call the right tools", "text": "{\"score\": 0.4, \"reason\": \"clumsy\"}"},
        {"when": "Were the arguments", "text": "{\"score\": 1}"},
        {"when": "sensible plan", "text": "no verdict"},
    ]));
    stage.write(
        "suite.yaml",
        &agent("      mcp_task_completion: { threshold: 0.6 }\n      mcp_use: {}\n      argument_correctness: { strict: true }\n      plan_quality: {}\n"),
    );
    let (status, told) = report(&stage, Some(&provider), RUN);
    assert_eq!(status, 2, "{told:#}");
    let row = |name: &str, status: &str| (name.to_owned(), status.to_owned());
    assert_eq!(
        verdicts(&told),
        [
            row("sums", "pass"),
            row("sums (mcp_task_completion)", "pass"),
            row("sums (mcp_use)", "fail"),
            row("sums (argument_correctness)", "pass"),
            row("sums (plan_quality)", "error"),
        ]
    );
    assert_eq!(
        test(&told, 2)["failures"][0]["note"],
        "score 0.40; must be at least 0.50: clumsy"
    );
    assert_eq!(test(&told, 0)["cost"]["asked"], 2);
    assert_eq!(test(&told, 4)["cost"]["asked"], 2);
    assert_eq!(told["summary"]["cost"]["asked"], 7);
    let judge = provider.requests().pop().unwrap()["body"].to_string();
    assert!(
        judge.contains("[tool call 1] `add` of the server `peer`"),
        "{judge}"
    );
    assert!(judge.contains("[agent]\\nIt is 5."), "{judge}");
}

#[test]
fn criteria_are_averaged_by_weight_and_a_tree_tells_its_path() {
    let stage = Stage::new();
    let provider = provider(&json!([
        {"when": "Adds with the tool", "text": "{\"score\": 1, \"reason\": \"it did\"}"},
        {"when": "Is friendly", "text": "{\"score\": 0.1, \"reason\": \"curt\"}"},
        {"when": "Did it call add?", "text": "{\"score\": 0.5}"},
        {"when": "Is it cheerful?", "text": "{\"pass\": false}"},
    ]));
    stage.write("suite.yaml", &agent("      rubric:\n        criteria:\n          - { name: tool, weight: 2, description: Adds with the tool. }\n          - { name: tone, description: Is friendly. }\n"));
    let (status, told) = report(&stage, Some(&provider), RUN);
    assert_eq!(status, 0, "{told:#}");
    let judged = &test(&told, 1)["judgements"][0];
    assert_eq!(judged["score"], 0.7);
    assert_eq!(judged["criteria"][1]["reason"], "curt");
    stage.write("suite.yaml", &agent("      rubric:\n        tree:\n          ask: Did it call add?\n          yes: { ask: Is it cheerful?, yes: { score: 1 }, no: { score: 0.4, reason: no cheer } }\n          no: { score: 0 }\n"));
    let (status, told) = report(&stage, Some(&provider), RUN);
    assert_eq!(status, 1, "{told:#}");
    let note = test(&told, 1)["failures"][0]["note"].as_str().unwrap();
    assert_eq!(
        note,
        "score 0.40; must be at least 0.70: no cheer\npath: Did it call add? -> yes, Is it cheerful? -> no"
    );
}

#[test]
fn without_a_key_metrics_are_deferred() {
    let stage = Stage::new();
    stage.write("suite.yaml", &agent("      mcp_use: {}\n"));
    let (status, told) = report(&stage, None, RUN);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(test(&told, 1)["status"], "deferred");
    assert_eq!(told["summary"]["passed"], 0);
}

#[test]
fn a_recorded_run_and_its_metrics_need_no_key() {
    let stage = Stage::new();
    let provider = provider(&json!([{"text": "{\"score\": 0.8}"}]));
    let turns =
        "    turns: [{ user: And now? }]\n    eval: { multi_turn_mcp_use: { threshold: 0.6 } }\n";
    let suite = agent("").replace("    eval:\n", turns);
    stage.write("suite.yaml", &suite);
    let script = json!({"key": KEY, "sides": [{"text": "{\"score\": 0.8}"}], "turns": [{"text": "5"}, {"text": "6"}]});
    drop(provider);
    let provider = Provider::start(&script);
    let (status, told) = report(&stage, Some(&provider), RECORD);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(
        test(&told, 1)["judgements"][0]["criteria"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    drop(provider);
    let (status, told) = report(&stage, None, RUN);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(test(&told, 1)["judgements"][0]["replayed"], true);
}
