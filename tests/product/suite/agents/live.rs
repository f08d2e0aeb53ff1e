//! With a provider and servers.

use serde_json::{Value, json};

use super::super::stage::{Stage, with_peer};
use super::{EXPECTS, KEY, adder, agent, provider, report, run, tests};
use crate::support::provider::Provider;

#[test]
fn a_model_calls_tools_and_the_trace_is_judged() {
    let (stage, provider) = (Stage::new(), adder());
    stage.write("suite.yaml", &agent(EXPECTS));
    let (status, report) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let test = &tests(&report)[0];
    assert_eq!(
        (&test["kind"], &test["status"], &test["replay"]),
        (&json!("agent"), &json!("pass"), &json!(false))
    );
    let asked = provider.requests();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0]["key"], KEY);
    assert!(asked[0]["body"]["tools"].as_array().expect("tools").len() > 3);
    assert_eq!(
        asked[1]["body"]["messages"][2]["content"][0]["content"][0]["text"],
        "5"
    );
}

#[test]
fn every_wire_carries_the_same_run() {
    let stage = Stage::new();
    let provider = Provider::start(&json!({"key": KEY, "turns": [
        {"thinking": "let me add", "tools": [
            {"name": "add", "arguments": {"a": 2, "b": 3}},
            {"name": "fail", "arguments": {}},
            {"name": "picture", "arguments": {}},
        ]},
        {"text": "It is 5."},
    ]}));
    let models = "    models: [claude-sonnet-4-5, gpt-5, gemini-2.5-pro, mistral-small-latest, { provider: own, id: any/model }]\n";
    let expect = "    expect:\n      - { target: tool_names, matcher: { exact: [add, fail, picture] } }\n      - { target: \"tool_results[1].isError\", matcher: { exact: true } }\n      - { target: \"tool_results[1].is_error\", matcher: { exact: true } }\n      - { target: \"tool_results[0].result.content[0].text\", matcher: { exact: \"5\" } }\n      - { target: \"tool_calls[0].server\", matcher: { exact: peer } }\n      - { target: \"tool_calls[2].hop_index\", matcher: { exact: 2 } }\n      - { target: tool_calls.length, matcher: { exact: 3 } }\n      - { target: redundant_tool_calls, matcher: { exact: 0 } }\n      - { target: conversation.message_count, matcher: { exact: 6 } }\n      - { target: conversation.tokens.total, matcher: { exact: 240 } }\n      - { target: conversation.stop_reason, matcher: { exact: completed } }\n      - { target: final_response, matcher: { exact: \"It is 5.\" } }\n";
    let own = format!(
        "providers:\n  own: {{ type: openai, base_url: \"{}/v1\", api_key_env: OPENAI_API_KEY, organization: us }}\n",
        provider.url()
    );
    stage.write("suite.yaml", &(own + &agent(&format!("{models}{expect}"))));
    let (status, report) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let names: Vec<_> = tests(&report)
        .iter()
        .map(|test| test["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        names,
        [
            "sums [claude-sonnet-4-5]",
            "sums [gpt-5]",
            "sums [gemini-2.5-pro]",
            "sums [mistral-small-latest]",
            "sums [own/any/model]",
        ]
    );
    let mut wires: Vec<String> = provider
        .requests()
        .iter()
        .map(|one| one["wire"].to_string())
        .collect();
    wires.sort();
    wires.dedup();
    assert_eq!(wires.len(), 3, "{wires:?}");
}

#[test]
fn tools_of_several_servers_are_told_apart_by_their_prefix() {
    let stage = Stage::new();
    let provider = provider(&json!([
        {"tools": [{"name": "other__add", "arguments": {"a": 2, "b": 3}}]},
        {"text": "It is 5."},
    ]));
    let suite = with_peer(
        "  other:\n    command: [\"${PEER}\", \"suite\"]\nagents:\n  - name: sums\n    model: claude-sonnet-4-5\n    servers: [other, peer]\n    prompt: What is 2 + 3?\n    expect:\n      - { target: \"tool_calls[0].name\", matcher: { exact: add } }\n      - { target: \"tool_calls[0].server\", matcher: { exact: other } }\n",
    );
    stage.write("suite.yaml", &suite);
    let (status, report) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    let offered = provider.requests()[0]["body"]["tools"].to_string();
    assert!(
        offered.contains("\"other__add\"") && offered.contains("\"peer__add\""),
        "{offered}"
    );
}

#[test]
fn what_does_not_hold_fails_and_a_cap_fails_unless_it_is_expected() {
    let (stage, provider) = (Stage::new(), adder());
    let wrong = "    model: claude-sonnet-4-5\n    expect: [{ target: final_response, matcher: { contains: six } }]\n";
    stage.write("wrong.yaml", &agent(wrong));
    assert_eq!(report(&stage, Some(&provider), &["wrong.yaml"]).0, 1);

    let capped = "    model: claude-sonnet-4-5\n    max_turns: 1\n";
    stage.write("capped.yaml", &agent(capped));
    let (status, told) = report(&stage, Some(&provider), &["capped.yaml"]);
    assert_eq!(status, 1, "{told:#}");
    let failure = &tests(&told)[0]["failures"][0];
    let note = failure["note"].as_str().expect("a note");
    assert_eq!(
        note,
        "the run was stopped by `max_turns`: the model still asked for tools after 1 turns"
    );

    let expected = format!(
        "{capped}    expect: [{{ target: conversation.stop_reason, matcher: {{ exact: turn_budget }} }}]\n"
    );
    stage.write("expected.yaml", &agent(&expected));
    let (status, told) = report(&stage, Some(&provider), &["expected.yaml", "--record"]);
    assert_eq!(status, 0, "{told:#}");
    assert!(
        !stage
            .path("cassettes/sums__claude-sonnet-4-5.json")
            .exists()
    );
}

#[test]
fn the_time_of_a_run_ends_a_provider_that_hangs() {
    let (stage, provider) = (Stage::new(), provider(&json!([{"hang": true}])));
    let suite = "    model: claude-sonnet-4-5\n    time_budget: 300ms\n    expect: [{ target: conversation.stop_reason, matcher: { exact: time_budget } }]\n";
    stage.write("suite.yaml", &agent(suite));
    let (status, report) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
}

#[test]
fn a_provider_that_is_busy_is_asked_again() {
    let stage = Stage::new();
    let provider = provider(&json!([
        [{"status": 429, "retry_after": 0, "message": "slow down"}, {"status": 529, "retry_after": 0}, {"text": "It is 5."}],
    ]));
    let suite = "    model: claude-sonnet-4-5\n    expect: [{ target: final_response, matcher: { contains: \"5\" } }]\n";
    stage.write("suite.yaml", &agent(suite));
    let (status, report) = report(&stage, Some(&provider), &["suite.yaml"]);
    assert_eq!(status, 0, "{report:#}");
    assert_eq!(provider.requests().len(), 3);
}

#[test]
fn the_time_that_a_busy_provider_names_is_waited_for_in_seconds_or_as_a_date() {
    let waited = "    model: claude-sonnet-4-5\n    expect:\n      - { target: final_response, matcher: { contains: \"5\" } }\n      - { target: conversation.duration_ms, matcher: { cel: \"value >= WAIT\" } }\n";
    for (status, wait) in [
        (json!({"status": 429, "retry_after": 1}), 1_000),
        (json!({"status": 503, "retry_date": 1}), 1_000),
        (json!({"status": 529, "retry_date": 2}), 2_000),
        // It is past, and so is the wait.
        (json!({"status": 500, "retry_date": -100}), 0),
    ] {
        let (stage, provider) = (
            Stage::new(),
            provider(&json!([[status, {"text": "It is 5."}]])),
        );
        stage.write(
            "suite.yaml",
            &agent(&waited.replace("WAIT", &wait.to_string())),
        );
        let (code, report) = report(&stage, Some(&provider), &["suite.yaml"]);
        assert_eq!(code, 0, "{status}: {report:#}");
        assert_eq!(provider.requests().len(), 2, "{status}");
    }
    // Longer than the run may take: it is not waited for.
    for status in [
        json!({"status": 429, "retry_after": 3600}),
        json!({"status": 503, "retry_date": 3600}),
    ] {
        let (stage, provider) = (Stage::new(), provider(&json!([status])));
        stage.write(
            "late.yaml",
            &agent("    model: claude-sonnet-4-5\n    time_budget: 20s\n"),
        );
        let (code, report) = report(&stage, Some(&provider), &["late.yaml"]);
        assert_eq!(code, 2, "{status}: {report:#}");
        assert_eq!(provider.requests().len(), 1, "{status}");
    }
}

#[test]
fn an_error_says_provider_model_status_and_cause_and_no_key() {
    let stage = Stage::new();
    let refuses = provider(&json!([{"status": 400, "message": format!("bad request with {KEY}")}]));
    let suite = "    model: claude-sonnet-4-5\n";
    stage.write("suite.yaml", &agent(suite));
    let (status, told) = report(&stage, Some(&refuses), &["suite.yaml"]);
    assert_eq!(status, 2, "{told:#}");
    let why = tests(&told)[0]["reasons"][0].as_str().expect("a reason");
    assert!(
        why.starts_with("provider `Anthropic`, model `claude-sonnet-4-5`: it answered 400 ("),
        "{why}"
    );
    assert!(
        why.contains("bad request") && !told.to_string().contains(KEY),
        "{told:#}"
    );
}

#[test]
fn without_a_key_the_stub_stands_in_and_judges_nothing() {
    let stage = Stage::new();
    stage.write("suite.yaml", &agent(EXPECTS));
    let (status, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(status, 0, "{told:#}");
    let test = &tests(&told)[0];
    assert_eq!(
        (&test["status"], &test["stub"]),
        (&json!("skip"), &json!(true))
    );
    let why = test["reasons"][0].as_str().expect("a reason");
    assert_eq!(
        why,
        "[STUB] ANTHROPIC_API_KEY is not set: no model was asked, and nothing is judged"
    );

    let gone = "servers: { gone: { command: [/nowhere/at/all] } }\nagents: [{ name: a, model: gpt-5, servers: [gone], prompt: p }]\n";
    stage.write("gone.yaml", gone);
    assert_eq!(
        run(&stage, None, &["gone.yaml"]).status,
        2,
        "a server that is not there is told"
    );

    let unknown = "agents: [{ name: a, model: who-knows, servers: [peer], prompt: p }]\n";
    stage.write("unknown.yaml", &with_peer(unknown));
    let (status, told) = report(&stage, None, &["unknown.yaml"]);
    assert_eq!(status, 2);
    assert!(
        tests(&told)[0]["reasons"][0]
            .to_string()
            .contains("providers"),
        "{told:#}"
    );
}

#[test]
fn turns_are_told_one_by_one_and_a_model_may_be_the_user() {
    let stage = Stage::new();
    let turns = provider(&json!([
        {"tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
        {"text": "It is 5."},
        {"text": "You are welcome."},
    ]));
    let suite = with_peer(
        "agents:\n  - name: talk\n    model: claude-sonnet-4-5\n    servers: [peer]\n    turns: [{ user: \"2 + 3?\" }, { user: thanks }]\n    expect:\n      - { target: \"conversation.per_turn[0].tool_calls[0].name\", matcher: { exact: add } }\n      - { target: \"conversation.per_turn[1].user\", matcher: { exact: thanks } }\n      - { target: final_response, matcher: { contains: welcome } }\n",
    );
    stage.write("turns.yaml", &suite);
    let (status, told) = report(&stage, Some(&turns), &["turns.yaml"]);
    assert_eq!(status, 0, "{told:#}");

    let user = Provider::start(
        &json!({"key": KEY, "turns": [{"text": "It is 5."}], "sides": [
            {"when": "Begin the conversation.\"}]},{\"role\":\"assistant", "text": "DONE"},
            {"when": "It is 5.", "text": "DONE"},
            {"when": "You play the user", "text": "What is 2 + 3?"},
        ]}),
    );
    let suite = with_peer(
        "agents:\n  - name: talk\n    model: claude-sonnet-4-5\n    servers: [peer]\n    turns: { simulate: { goal: know a sum } }\n    expect:\n      - { target: conversation.per_turn.length, matcher: { exact: 1 } }\n      - { target: \"conversation.per_turn[0].user\", matcher: { exact: \"What is 2 + 3?\" } }\n      - { target: final_response, matcher: { exact: \"It is 5.\" } }\n",
    );
    stage.write("user.yaml", &suite);
    let (status, told) = report(&stage, Some(&user), &["user.yaml"]);
    assert_eq!(status, 0, "{told:#}\n{:#?}", user.requests());
}

#[test]
fn agents_run_beside_each_other_and_are_told_in_order() {
    let stage = Stage::new();
    let provider = Provider::start(&json!({"key": KEY, "turns": [{"text": "ok", "delay_ms": 50}]}));
    let each = |n| {
        format!(
            "  - {{ name: a{n}, model: claude-sonnet-4-5, servers: [peer], prompt: p{n} }}
"
        )
    };
    let tests_of = (0..6).map(each).collect::<Vec<_>>().concat();
    stage.write("suite.yaml", &with_peer(&format!("agents:\n{tests_of}")));
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml", "--parallel", "3"]);
    assert_eq!(status, 0, "{told:#}");
    let names: Vec<&Value> = tests(&told).iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["a0", "a1", "a2", "a3", "a4", "a5"]);
}
