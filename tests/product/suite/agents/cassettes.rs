//! Recorded once, judged without a server and without a key.

use serde_json::{Value, json};

use super::super::stage::Stage;
use super::{EXPECTS, KEY, adder, agent, command, provider, report, run, tests};

const FILE: &str = "cassettes/sums__claude-sonnet-4-5.json";

/// A stage with the suite and its cassette.
fn recorded() -> Stage {
    let (stage, provider) = (Stage::new(), adder());
    stage.write("suite.yaml", &agent(EXPECTS));
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml", "--record"]);
    assert_eq!(status, 0, "{told:#}");
    assert_eq!(tests(&told)[0]["replay"], false);
    stage
}

/// The suite where its server cannot be started.
fn without_server(stage: &Stage) {
    let text = stage
        .read("suite.yaml")
        .replace("${PEER}", "/nowhere/at/all");
    stage.write("suite.yaml", &text);
}

#[test]
fn a_cassette_has_the_documented_shape_and_no_key() {
    let stage = recorded();
    let text = stage.read(FILE);
    assert!(!text.contains(KEY));
    let cassette: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(cassette["schema_version"], "v1");
    assert_eq!(cassette["agent_name"], "sums");
    assert_eq!(cassette["user_prompt"], "What is 2 + 3?");
    assert_eq!(cassette["system_prompt"], Value::Null);
    assert_eq!(
        cassette["recorded_at"].as_str().expect("a time").len(),
        "2026-05-19T01:23:45Z".len()
    );
    assert_eq!(
        cassette["tools_fingerprint"]
            .as_str()
            .expect("a fingerprint")
            .len(),
        16
    );
    assert_eq!(
        cassette["trace"]["tool_calls"][0]["args"],
        json!({"a": 2, "b": 3})
    );
    assert_eq!(
        cassette["trace"]["tool_results"][0]["result"]["content"][0]["text"],
        "5"
    );
    assert_eq!(cassette["trace"]["conversation"]["tokens"]["total"], 240);
}

#[test]
fn a_replay_needs_neither_server_nor_key_and_says_so() {
    let stage = recorded();
    without_server(&stage);
    let said = run(&stage, None, &["suite.yaml"]);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let row = said
        .out
        .lines()
        .find(|line| line.contains("PASS"))
        .expect("a row");
    assert!(row.contains("sums") && row.ends_with("[replay]"), "{row}");
    let (_, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(tests(&told)[0]["replay"], true);
    assert_eq!(told["summary"]["cost"], Value::Null);

    // Expectations may change; they are judged by the recorded run.
    let text = stage
        .read("suite.yaml")
        .replace("contains: \"5\"", "contains: \"6\"");
    stage.write("suite.yaml", &text);
    assert_eq!(run(&stage, None, &["suite.yaml"]).status, 1);
}

#[test]
fn the_recorded_time_stays_in_the_trace_and_that_of_the_replay_on_the_row() {
    let stage = recorded();
    without_server(&stage);
    let mut cassette: Value = serde_json::from_str(&stage.read(FILE)).expect("JSON");
    cassette["trace"]["conversation"]["duration_ms"] = 3_600_000.into();
    stage.write(FILE, &cassette.to_string());
    let text = stage.read("suite.yaml")
        + "      - { target: conversation.duration_ms, matcher: { exact: 3600000 } }\n";
    stage.write("suite.yaml", &text);
    let (status, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(status, 0, "{told:#}");
    assert!(tests(&told)[0]["duration_ms"].as_f64().expect("a time") < 3_600_000.0);
}

#[test]
fn a_stale_cassette_is_refused_with_the_field_that_differs() {
    let stage = recorded();
    without_server(&stage);
    let text = stage
        .read("suite.yaml")
        .replace("What is 2 + 3?", "What is 2 + 4?");
    stage.write("suite.yaml", &text);
    let (status, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(status, 2, "{told:#}");
    assert_eq!(
        tests(&told)[0]["reasons"][0],
        "cassette for agent `sums` model `claude-sonnet-4-5` is stale on field `user_prompt` (cassette=`What is 2 + 3?`, yaml=`What is 2 + 4?`); rerun with --record"
    );
}

#[test]
fn record_keeps_what_holds_and_records_what_is_new_or_stale() {
    let (stage, provider) = (recorded(), adder());
    let before = stage.read(FILE);
    let two = stage.read("suite.yaml").replace(
        "model: claude-sonnet-4-5",
        "models: [claude-sonnet-4-5, gpt-5]",
    );
    stage.write("suite.yaml", &two);
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml", "--record"]);
    assert_eq!(status, 0, "{told:#}");
    let replays: Vec<&Value> = tests(&told).iter().map(|test| &test["replay"]).collect();
    assert_eq!(replays, [true, false]);
    assert_eq!(stage.read(FILE), before);
    assert!(stage.path("cassettes/sums__gpt-5.json").exists());

    let other = two.replace("What is 2 + 3?", "And 2 + 3?");
    stage.write("suite.yaml", &other);
    let (status, told) = report(&stage, Some(&provider), &["suite.yaml", "--record"]);
    assert_eq!(status, 0, "{told:#}");
    assert!(stage.read(FILE).contains("And 2 + 3?"));
}

#[test]
fn the_stub_never_takes_the_place_of_a_recording() {
    let stage = recorded();
    let before = stage.read(FILE);
    for words in [
        &["suite.yaml", "--record"],
        &["suite.yaml", "--update-cassettes"],
    ] {
        let (status, told) = report(&stage, None, words);
        assert_eq!(
            (status, &tests(&told)[0]["replay"]),
            (0, &json!(true)),
            "{told:#}"
        );
        assert_eq!(stage.read(FILE), before);
    }
    let new = Stage::new();
    new.write("suite.yaml", &agent(EXPECTS));
    for _ in 0..2 {
        let (status, told) = report(&new, None, &["suite.yaml", "--record"]);
        assert_eq!(
            (status, &tests(&told)[0]["stub"]),
            (0, &json!(true)),
            "{told:#}"
        );
        assert!(new.path(FILE).exists());
    }
    // With a key it is recorded at last.
    let (status, told) = report(&new, Some(&adder()), &["suite.yaml", "--record"]);
    assert_eq!(
        (status, &tests(&told)[0]["status"]),
        (0, &json!("pass")),
        "{told:#}"
    );
    assert!(new.read(FILE).contains("It is 5."));
}

#[test]
fn all_are_recorded_anew_on_demand_and_never_by_a_machine() {
    let (stage, provider) = (recorded(), adder());
    let mut cassette: Value = serde_json::from_str(&stage.read(FILE)).expect("JSON");
    cassette["trace"]["final_response"] = "It was 5.".into();
    stage.write(FILE, &cassette.to_string());
    let mut machine = command(
        &stage,
        Some(&provider),
        &["suite.yaml", "--update-cassettes"],
    );
    let refused = super::said(machine.env("CI", "true"));
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert!(stage.read(FILE).contains("It was 5."));
    assert_eq!(
        run(
            &stage,
            Some(&provider),
            &["suite.yaml", "--update-cassettes"]
        )
        .status,
        0
    );
    assert!(!stage.read(FILE).contains("It was 5."));
}

#[test]
fn tools_that_have_changed_are_found_where_servers_are_asked() {
    let stage = recorded();
    assert_eq!(
        run(&stage, None, &["suite.yaml", "--check-tools"]).status,
        0
    );
    let mut cassette: Value = serde_json::from_str(&stage.read(FILE)).expect("JSON");
    cassette["tools_fingerprint"] = "0123456789abcdef".into();
    stage.write(FILE, &cassette.to_string());
    let (status, told) = report(&stage, None, &["suite.yaml", "--check-tools"]);
    assert_eq!(status, 2);
    let why = tests(&told)[0]["reasons"][0].as_str().expect("a reason");
    assert!(
        why.contains("cassette=`0123456789abcdef`") && why.contains("--update-cassettes"),
        "{why}"
    );
    assert_eq!(
        run(&stage, None, &["suite.yaml"]).status,
        0,
        "no server is asked otherwise"
    );
}

#[test]
fn the_file_of_another_tool_is_read_and_a_broken_one_is_told() {
    let (stage, provider) = (Stage::new(), adder());
    let suite = agent(EXPECTS).replace("claude-sonnet-4-5", "gemini-2.5-pro");
    stage.write("suite.yaml", &suite);
    assert_eq!(
        run(&stage, Some(&provider), &["suite.yaml", "--record"]).status,
        0
    );
    let text = stage.read("cassettes/sums__gemini-2.5-pro.json");
    std::fs::remove_file(stage.path("cassettes/sums__gemini-2.5-pro.json")).expect("removed");
    stage.write("cassettes/sums__gemini-2_5-pro.json", &text);
    let (status, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(
        (status, &tests(&told)[0]["replay"]),
        (0, &json!(true)),
        "{told:#}"
    );
    stage.write(
        "cassettes/sums__gemini-2_5-pro.json",
        "{\"schema_version\": \"v2\"}",
    );
    let (status, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(status, 2);
    assert!(
        tests(&told)[0]["reasons"][0]
            .to_string()
            .contains("/schema_version"),
        "{told:#}"
    );
}

#[test]
fn what_the_suite_calls_a_secret_is_in_no_cassette_and_no_reason_to_be_stale() {
    let stage = Stage::new();
    let provider = provider(&json!([
        {"tools": [{"name": "echo", "arguments": {"message": "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}}]},
        {"text": "done"},
    ]));
    let prompt = "Say ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let suite = agent("    model: claude-sonnet-4-5\n").replace("What is 2 + 3?", prompt);
    stage.write("suite.yaml", &suite);
    assert_eq!(
        run(&stage, Some(&provider), &["suite.yaml", "--record"]).status,
        0
    );
    assert!(
        !stage.read(FILE).contains("ghp_a1B2"),
        "{}",
        stage.read(FILE)
    );
    let (status, told) = report(&stage, None, &["suite.yaml"]);
    assert_eq!(
        (status, &tests(&told)[0]["replay"]),
        (0, &json!(true)),
        "{told:#}"
    );
}

#[test]
fn scrub_knows_agent_cassettes() {
    let stage = recorded();
    let scrub = |words: &[&str]| super::said(stage.command().arg("scrub").args(words).arg(FILE));
    let said = scrub(&["--check"]);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    let text = stage.read(FILE).replace(
        "It is 5.",
        "It is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8.",
    );
    stage.write(FILE, &text);
    assert_eq!(scrub(&["--check"]).status, 1);
    assert_eq!(scrub(&[]).status, 0);
    assert!(!stage.read(FILE).contains("ghp_a1B2"));
    // It is still a cassette, and hidden values cannot be judged.
    assert_eq!(run(&stage, None, &["suite.yaml"]).status, 3);
}
