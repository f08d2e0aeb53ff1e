//! Whether an agent recovers from the faults of a server on the wire.

use serde_json::json;

use super::super::super::stage::Stage;
use super::super::{provider, run};
use super::{Server, live_and_replayed, suite};

/// An agent that calls `count` and then sends a text; `gate` is its `recovery`.
fn agent(name: &str, gate: &str, rest: &str) -> String {
    format!(
        "  - name: {name}\n    model: claude-sonnet-4-5\n    servers: [peer]\n    prompt: Count.\n    inject: [{name}]\n    recovery: {{ {gate} }}\n{rest}"
    )
}

#[test]
fn an_agent_recovers_from_what_a_foreign_server_does() {
    let (stage, server) = (Stage::new(), Server::rmcp());
    let provider = provider(&json!([
        {"tools": [{"name": "count", "arguments": {}}]},
        {"text": "It does not count."},
    ]));
    let faults = [
        ("hang", "hang tool=count"),
        ("drop", "drop tool=count"),
        ("error", "error tool=count"),
        ("slow", "slow tool=count delay_ms=100"),
        ("late", "slow tool=count delay_ms=60000"),
    ];
    let short = "max_detection_ms: 400, max_recovery_ms: 400, require_clean_timeout: true";
    let long = "max_detection_ms: 60000, require_clean_timeout: true";
    let agents = [
        agent("hang", short, ""),
        agent("drop", short, ""),
        agent("error", long, ""),
        agent("slow", long, ""),
        agent("late", "max_detection_ms: 400, max_recovery_ms: 300", ""),
    ];
    let rows = live_and_replayed(
        &stage,
        &provider,
        &suite(server.url(), &faults, &agents.concat()),
    );
    let recovered: Vec<_> = rows
        .iter()
        .skip(1)
        .step_by(2)
        .map(|(name, status, told)| (name.as_str(), status.as_str(), told.as_str()))
        .collect();
    let short = "calls that failed by a fault: 1; given up: within 400 ms; recovered: within 400 ms; the user saw nothing for at most 400 ms";
    assert_eq!(
        recovered,
        [
            ("hang (recovery)", "pass", short),
            ("drop (recovery)", "pass", short),
            (
                "error (recovery)",
                "pass",
                "calls that failed by a fault: 1; given up: within 60000 ms; recovered: within 60000 ms; the user saw nothing for at most 60000 ms"
            ),
            (
                "slow (recovery)",
                "pass",
                "calls that failed by a fault: 0; given up: never; recovered: within 0 ms; the user saw nothing for at most 0 ms"
            ),
            ("late (recovery)", "fail", short),
        ]
    );
}

#[test]
fn an_agent_recovers_from_a_server_that_goes() {
    let (stage, server) = (Stage::new(), Server::rmcp());
    let leave = json!({"tools": [{"name": "leave", "arguments": {}}]});
    let count = json!({"tools": [{"name": "count", "arguments": {}}]});
    let provider = provider(&json!([leave, count, {"text": "The server is gone."}]));
    let faults = [("gone", "slow method=tools/call delay_ms=10")];
    let failed = "{ target: \"tool_results[1].isError\", matcher: { exact: true } }";
    let agents = agent(
        "gone",
        "max_detection_ms: 60000, require_clean_timeout: true",
        &format!("    expect: [{failed}]\n"),
    );
    let rows = live_and_replayed(&stage, &provider, &suite(server.url(), &faults, &agents));
    let told: Vec<_> = rows.iter().map(|(_, status, _)| status.as_str()).collect();
    assert_eq!(told, ["pass", "pass"], "{rows:?}");
    // It was offered, and called.
    let cassette = stage.read("cassettes/gone__claude-sonnet-4-5.json");
    assert!(!cassette.contains("no tool"), "{cassette}");
    let (_, _, why) = &rows[1];
    assert!(
        why.starts_with("calls that failed by a fault: 2; "),
        "{why}"
    );
}

#[test]
fn an_agent_that_loops_on_a_wedged_server_fails() {
    let (stage, server) = (Stage::new(), Server::rmcp());
    let looping = crate::support::provider::Provider::start(&json!({
        "key": super::super::KEY, "repeat": true,
        "turns": [{"tools": [{"name": "count", "arguments": {}}]}],
    }));
    let faults = [("wedged", "wedged tool=count nth=1")];
    let agents = agent(
        "wedged",
        "max_detection_ms: 200, require_clean_timeout: true",
        "    max_turns: 3\n",
    );
    stage.write("suite.yaml", &suite(server.url(), &faults, &agents));
    let (status, told) = super::report(&stage, Some(&looping), &["suite.yaml"]);
    assert_eq!(status, 1, "{told:#}");
    let rows = super::rows(&told);
    let told: Vec<_> = rows.iter().map(|(_, status, _)| status.as_str()).collect();
    assert_eq!(told, ["fail", "fail"], "{rows:?}");
    let (_, _, why) = &rows[1];
    assert!(
        why.starts_with("calls that failed by a fault: 3; given up: never"),
        "{why}"
    );
}

#[test]
fn a_fault_that_cannot_act_before_a_server_is_refused_with_its_reason() {
    let (stage, server) = (Stage::new(), Server::suite());
    let provider = super::super::adder();
    let faults = [("f", "http-status tool=add status=503 on=request")];
    let agents = agent("f", "max_detection_ms: 1000", "");
    stage.write("suite.yaml", &suite(server.url(), &faults, &agents));
    let said = run(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(said.status, 2, "{}{}", said.out, said.err);
    let told = format!("{}{}", said.out, said.err);
    assert!(told.contains("http-status"), "{told}");
}

#[test]
fn credentials_of_a_server_behind_a_fault_stay_off_every_tape() {
    const CANARY: &str = "canary-71f0d2b8-token";
    let (stage, server) = (Stage::new(), Server::suite());
    let provider = super::super::adder();
    for wire in ["error tool=add", "exit tool=add"] {
        let text = suite(
            server.url(),
            &[("f", wire)],
            &agent("f", "max_detection_ms: 60000", ""),
        );
        let with_key = format!(
            "url: \"{}\", auth: {{ bearer_token_env: PEER_CREDENTIAL }}",
            server.url()
        );
        let text = text.replace(&format!("url: \"{}\"", server.url()), &with_key);
        stage.write("suite.yaml", &text);
        let mut command = super::super::command(&stage, Some(&provider), &["suite.yaml"]);
        let said = super::super::super::stage::said(command.env("PEER_CREDENTIAL", CANARY));
        assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    }
    let tapes: Vec<_> = std::fs::read_dir(stage.path("state"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    assert_eq!(tapes.len(), 2, "{tapes:?}");
    for tape in tapes {
        let text = std::fs::read_to_string(&tape).expect("a tape");
        assert!(
            text.contains("tools/call") && !text.contains(CANARY),
            "{tape:?}"
        );
    }
}
