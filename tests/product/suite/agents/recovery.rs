//! Calls that are never answered, in virtual time.

use serde_json::{Value, json};

use super::super::stage::{Stage, with_peer};
use super::{KEY, adder, agent, provider, report, tests};
use crate::support::provider::Provider;

/// A suite with a fault of this kind and a gate.
fn suite(kind: &str) -> String {
    let faults = format!("faults:\n  - {{ name: hung, target: {{ tool: echo }}, kind: {kind} }}\n");
    faults
        + &with_peer(
            "agents:\n  - name: searches\n    model: claude-sonnet-4-5\n    servers: [peer]\n    inject: [hung]\n    prompt: Search.\n    max_turns: 4\n    recovery: { max_detection_ms: 3000, max_recovery_ms: 5000, require_clean_timeout: true }\n",
        )
}

fn searcher() -> Provider {
    provider(&json!([
        {"tools": [{"name": "echo", "arguments": {"message": "x"}}]},
        {"text": "The search does not answer."},
    ]))
}

fn statuses(report: &Value) -> Vec<(&str, &str)> {
    tests(report)
        .iter()
        .map(|test| {
            (
                test["name"].as_str().expect("a name"),
                test["status"].as_str().expect("a status"),
            )
        })
        .collect()
}

#[test]
fn an_agent_that_gives_up_a_hung_tool_recovers_live_and_on_replay() {
    let (stage, provider) = (Stage::new(), searcher());
    stage.write("suite.yaml", &suite("hang"));
    for (provider, words) in [
        (Some(&provider), vec!["suite.yaml", "--record"]),
        (None, vec!["suite.yaml"]),
    ] {
        let (status, told) = report(&stage, provider, &words);
        assert_eq!(status, 0, "{told:#}");
        assert_eq!(
            statuses(&told),
            [("searches", "pass"), ("searches (recovery)", "pass")]
        );
        assert_eq!(
            tests(&told)[1]["reasons"][0],
            "calls without an answer: 1; given up: after 3000 ms; recovered: after 3000 ms; the user saw nothing for 3000 ms"
        );
        assert_eq!(tests(&told)[1]["replay"], provider.is_none());
    }
}

#[test]
fn an_agent_that_loops_on_a_hung_tool_fails() {
    let stage = Stage::new();
    let looping = Provider::start(&json!({"key": KEY, "repeat": true, "turns": [
        {"tools": [{"name": "echo", "arguments": {"message": "x"}}]},
    ]}));
    stage.write("suite.yaml", &suite("wedged"));
    let (status, told) = report(&stage, Some(&looping), &["suite.yaml"]);
    assert_eq!(status, 1, "{told:#}");
    assert_eq!(
        statuses(&told),
        [("searches", "fail"), ("searches (recovery)", "fail")]
    );
    let why: Vec<_> = tests(&told)[1]["failures"]
        .as_array()
        .expect("failures")
        .iter()
        .map(|one| &one["matcher"])
        .collect();
    assert_eq!(why, ["recovery", "require_clean_timeout"]);
}

#[test]
fn a_server_that_recovers_answers_later_and_a_quick_one_always() {
    let stage = Stage::new();
    let patient = provider(&json!([
        {"tools": [{"name": "echo", "arguments": {"message": "x"}}]},
        {"tools": [{"name": "echo", "arguments": {"message": "x"}}]},
        {"text": "found"},
    ]));
    stage.write("suite.yaml", &suite("recover_after, failures: 1"));
    let (status, told) = report(&stage, Some(&patient), &["suite.yaml"]);
    assert_eq!(status, 0, "{told:#}");
    stage.write("slow.yaml", &suite("slow, delay_ms: 2999"));
    let (status, told) = report(&stage, Some(&patient), &["slow.yaml"]);
    assert_eq!(status, 0, "{told:#}");
    let reason = tests(&told)[1]["reasons"][0].as_str().expect("a reason");
    assert!(
        reason.starts_with("calls without an answer: 0;"),
        "{reason}"
    );
    stage.write("late.yaml", &suite("slow, delay_ms: 3000"));
    let (status, told) = report(&stage, Some(&patient), &["late.yaml"]);
    assert_eq!(status, 1, "twice is 6000 ms: {told:#}");
}

#[test]
fn a_fault_that_is_not_there_is_a_mistake_of_the_suite() {
    let stage = Stage::new();
    let text = suite("hang").replace("inject: [hung]", "inject: [other]");
    stage.write("suite.yaml", &text);
    let said = super::run(&stage, None, &["suite.yaml"]);
    assert_eq!(said.status, 2, "{}", said.err);
    assert!(said.err.contains("other"), "{}", said.err);
}

#[test]
fn a_fault_on_the_wire_reaches_the_model_in_real_time() {
    let stage = Stage::new();
    let provider = adder();
    let suite = |wire: &str, expect: &str| {
        format!(
            "performance: {{ default_timeout_ms: 4000 }}\nfaults: [{{ name: f, wire: \"{wire}\" }}]\n"
        ) + &agent(&format!(
            "    model: claude-sonnet-4-5\n    inject: [f]\n    expect: [{expect}]\n"
        ))
    };
    let failed = "{ target: \"tool_results[0].isError\", matcher: { exact: true } }";
    let told = |text: &str| {
        format!(
            "{failed}, {{ target: \"tool_results[0].result.content[0].text\", matcher: {{ contains: \"{text}\" }} }}"
        )
    };
    for (wire, expect) in [
        ("error tool=add code=-32007", told("-32007")),
        ("hang tool=add", told("no answer within 4000 ms")),
        ("slow tool=add delay_ms=50", "{ target: \"tool_results[0].isError\", matcher: { exact: false } }, { target: conversation.duration_ms, matcher: { cel: \"value >= 50\" } }".to_owned()),
    ] {
        stage.write("suite.yaml", &suite(wire, &expect));
        let (status, told) = report(&stage, Some(&provider), &["suite.yaml"]);
        assert_eq!(status, 0, "{wire}: {told:#}");
    }
    stage.write("suite.yaml", &suite("explode tool=add", failed));
    let said = super::run(&stage, None, &["suite.yaml"]);
    assert_eq!(said.status, 2, "{}", said.err);
    assert!(
        said.err.contains("explode") && said.err.contains("suite.yaml:"),
        "{}",
        said.err
    );
}
