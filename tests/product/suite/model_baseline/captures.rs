//! Captures, comparisons of two, noise, and accepting a candidate.

use serde_json::{Value, json};

use super::super::stage::{Stage, said, with_peer};
use super::{KEY, adds, captured, command, compared, found, run, suite, well};
use crate::support::provider::Provider;
use crate::support::system::assert_mode;

#[test]
fn the_same_cassettes_make_the_same_bytes() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    let provider = Provider::start(&adds(2, 3, "It is 5."));
    let mut record = stage.command();
    record
        .env("ANTHROPIC_BASE_URL", provider.url())
        .env("ANTHROPIC_API_KEY", KEY)
        .args(["run", "suite.yaml", "--record"]);
    assert_eq!(said(&mut record).status, 0);
    drop(provider);

    well(&stage, None, &["capture", "suite.yaml", "-o", "one.json"]);
    well(
        &stage,
        None,
        &["capture", "--config", "./suite.yaml", "-o", "two.json"],
    );
    let text = stage.read("one.json");
    assert_eq!(text, stage.read("two.json"));
    assert!(
        !text.contains('\n') && text.ends_with("\"version\":1}"),
        "{text}"
    );
    assert_mode(&stage.path("one.json"), 0o644);

    let file: Value = serde_json::from_str(&text).expect("JSON");
    let errors = super::misfits(&file);
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(file["model_id"], "anthropic:claude-sonnet-4-5");
    assert!(
        file["model_version"]
            .as_str()
            .is_some_and(|version| version.contains("claude-sonnet-4-5"))
    );
    assert_ne!(file["server_version"], "unknown", "{file:#}");
    let first = &file["assertions"][0];
    assert_eq!(first["id"], "suite.yaml::sums::step-1");
    assert_eq!(
        first["content"],
        json!([{"type": "text", "text": "Let me add."}])
    );
    assert_eq!(first["finish_reason"], "tool_use");
    assert_eq!(first["tool_calls"][0]["name"], "add");
    assert_eq!(first["tool_calls"][0]["raw_arguments"], "{\"b\":3,\"a\":2}");
    assert!(first["latency_ms"].is_u64(), "{first:#}");
    let second = &file["assertions"][1];
    assert_eq!(
        (&second["id"], &second["finish_reason"]),
        (&json!("suite.yaml::sums::step-2"), &json!("stop"))
    );
    // The cassette that it is made from is a source as well.
    let cassette = "cassettes/sums__claude-sonnet-4-5.json";
    let words = [
        "capture",
        "--input",
        cassette,
        "--test",
        "suite.yaml::sums",
        "-o",
        "three.json",
    ];
    well(&stage, None, &words);
    let (status, report) = compared(
        &stage,
        &["diff", "one.json", "three.json", "--ignore-config"],
    );
    assert_eq!(
        (status, found(&report)),
        (0, Vec::<String>::new()),
        "{report:#}"
    );
}

#[test]
fn a_folder_of_suites_is_captured_as_one_baseline() {
    let stage = Stage::new();
    let rest = "agents:\n  - name: more\n    model: claude-sonnet-4-5\n    servers: [peer]\n    prompt: What is 2 + 3?\n";
    stage.write("all/a.yaml", &suite(""));
    stage.write("all/b.yaml", &with_peer(rest));
    stage.write(
        "all/c.yaml",
        &with_peer("tools:\n  - { name: a, server: peer, tool: echo }\n"),
    );
    let provider = Provider::start(&adds(2, 3, "It is 5."));
    for (source, file) in [
        ("all", "all.json"),
        ("all/a.yaml", "a.json"),
        ("all/b.yaml", "b.json"),
    ] {
        let words = ["capture", source, "--live", "-o", file];
        well(&stage, Some(&provider), &words);
    }
    let read = |file: &str| -> Value { serde_json::from_str(&stage.read(file)).expect("JSON") };
    let (all, a, b) = (read("all.json"), read("a.json"), read("b.json"));
    let errors = super::misfits(&all);
    assert!(errors.is_empty(), "{errors:#?}");
    let ids = |file: &Value| -> Vec<String> {
        let entries = file["assertions"].as_array().expect("exchanges").iter();
        entries.map(|one| one["id"].to_string()).collect()
    };
    assert_eq!(ids(&all), [ids(&a), ids(&b)].concat());
    assert_eq!((ids(&a).len(), ids(&b).len()), (2, 2));
    assert_eq!(all["model_id"], a["model_id"]);
    assert_eq!(all["server_version"], a["server_version"]);
    assert_ne!(all["server_config_hash"], a["server_config_hash"]);

    // The same folder is compared with it, and a folder with another model is not.
    let words = ["run", "all", "--live", "--baseline", "all.json", "--json"];
    let said = run(&stage, Some(&provider), &words);
    assert_eq!(said.status, 0, "{}{}", said.out, said.err);
    stage.write(
        "all/b.yaml",
        &with_peer(&rest.replace("claude-sonnet-4-5", "claude-opus-4-5")),
    );
    let said = run(&stage, Some(&provider), &["capture", "all", "--live"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("the suites use several models"),
        "{}",
        said.err
    );
    let said = run(&stage, Some(&provider), &words);
    assert!(
        said.out.contains("all/b.yaml: its tests do not use"),
        "{}{}",
        said.out,
        said.err
    );
}

#[test]
fn a_folder_without_agent_tests_is_refused() {
    let stage = Stage::new();
    for name in ["none/a.yaml", "none/b.yaml"] {
        stage.write(
            name,
            &with_peer("tools:\n  - { name: a, server: peer, tool: echo }\n"),
        );
    }
    let said = run(&stage, None, &["capture", "none"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err.contains("no suite in the folder has agent tests"),
        "{}",
        said.err
    );
}

#[test]
fn a_capture_of_a_part_is_none() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    let said = run(&stage, None, &["capture", "suite.yaml", "-o", "one.json"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err
            .contains("sums: [STUB] ANTHROPIC_API_KEY is not set"),
        "{}",
        said.err
    );
    assert!(!stage.path("one.json").exists());
    let said = run(
        &stage,
        None,
        &["capture", "suite.yaml", "--live", "-o", "one.json"],
    );
    assert!(
        said.status == 2 && said.err.contains("the model was to be asked"),
        "{}",
        said.err
    );
}

#[test]
fn drift_is_6_and_a_failure_1_in_every_format() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    captured(&stage, &adds(2, 3, "It is 5."), &["-o", "base.json"]);
    captured(&stage, &adds(2, 3, "The sum is 5."), &["-o", "drift.json"]);
    captured(&stage, &adds(2, 4, "It is 5."), &["-o", "fail.json"]);
    for (candidate, status, wanted) in [
        ("base.json", 0, &[][..]),
        ("drift.json", 6, &["step-2 response_semantics DRIFT"]),
        ("fail.json", 1, &["step-1 tool_args FAIL"]),
    ] {
        let (got, report) = compared(&stage, &["diff", "base.json", candidate]);
        assert_eq!(
            (got, found(&report).as_slice()),
            (
                status,
                &wanted
                    .iter()
                    .map(|one| (*one).to_owned())
                    .collect::<Vec<_>>()[..]
            ),
            "{report:#}"
        );
        for format in ["pretty", "markdown", "junit", "github", "html"] {
            let said = run(
                &stage,
                None,
                &["diff", "base.json", candidate, "--format", format],
            );
            assert_eq!(said.status, status, "{format}: {}", said.err);
            if let Some(first) = wanted.first() {
                let category = first.split(' ').nth(1).expect("a category");
                let plain = said.out.replace('\\', "");
                assert!(
                    plain.contains(category) && plain.contains("sums"),
                    "{format}: {}",
                    said.out
                );
            }
        }
    }
    // The candidate of other tools' spelling.
    let other = [
        "run",
        "--baseline",
        "base.json",
        "--candidate",
        "drift.json",
    ];
    assert_eq!(run(&stage, None, &other).status, 6);
    let said = run(&stage, None, &["diff", "base.json", "fail.json"]);
    assert!(said.out.contains("/b before 3, now 4"), "{}", said.out);
    let (status, report) = compared(
        &stage,
        &["diff", "base.json", "fail.json", "--filter", "*step-2"],
    );
    assert_eq!((status, &report["summary"]["pass"]), (0, &json!(1)));
    assert_eq!(
        run(
            &stage,
            None,
            &["diff", "base.json", "fail.json", "--filter", "none"]
        )
        .status,
        3
    );
}

#[test]
fn another_server_invalidates_a_baseline() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    captured(&stage, &adds(2, 3, "It is 5."), &["-o", "base.json"]);
    stage.write(
        "suite.yaml",
        &suite("").replace("agents:", "    env: { MODE: other }\nagents:"),
    );
    captured(&stage, &adds(2, 3, "It is 5."), &["-o", "other.json"]);
    let said = run(&stage, None, &["diff", "base.json", "other.json"]);
    assert_eq!(said.status, 2, "{}", said.out);
    let at = |text: &str| said.out.find(text).unwrap_or(usize::MAX);
    assert!(
        at("server_config_hash") < at("Result: INVALID"),
        "{}",
        said.out
    );
    let (status, report) = compared(
        &stage,
        &["diff", "base.json", "other.json", "--ignore-config"],
    );
    assert_eq!(
        (status, &report["identity"][0]["field"]),
        (0, &json!("server_config_hash"))
    );
}

#[test]
fn what_a_model_differs_in_from_itself_is_noise() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    captured(&stage, &adds(2, 3, "It is 5."), &["-o", "base.json"]);
    let wavers = json!({"key": KEY, "turns": [
        {"text": "Let me add.", "tools": [{"name": "add", "arguments": {"b": 3, "a": 2}}]},
        [{"text": "It is 5."}, {"text": "Five."}, {"text": "The sum is 5."}],
    ]});
    let provider = Provider::start(&wavers);
    let words = [
        "run",
        "suite.yaml",
        "--baseline",
        "base.json",
        "--runs",
        "3",
        "--json",
    ];
    let said = well(&stage, Some(&provider), &words);
    let report: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(report["candidate"]["runs"], 3);
    assert_eq!(
        found(&report),
        ["step-2 response_semantics DRIFT noise"],
        "{report:#}"
    );
    assert_eq!(provider.requests().len(), 6);
    drop(provider);
    // A single run is not enough.
    let provider = Provider::start(&adds(2, 3, "Five."));
    let words = ["run", "suite.yaml", "--baseline", "base.json", "--live"];
    assert_eq!(run(&stage, Some(&provider), &words).status, 6);
    // The same answer to every request: no noise.
    let provider = Provider::start(&adds(2, 4, "Five."));
    let words = [
        "run",
        "suite.yaml",
        "--baseline",
        "base.json",
        "--runs",
        "2",
        "--format",
        "pretty",
    ];
    let said = run(&stage, Some(&provider), &words);
    assert!(
        said.status == 1 && !said.out.contains("NOISE"),
        "{}",
        said.out
    );
}

#[test]
fn a_candidate_is_accepted_once_its_difference_was_shown() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    let rules = json!([{"name": "adds", "kind": "tool_called", "condition": {"tool": "add"}, "id": "*step-1"}]);
    stage.write("rules.json", &rules.to_string());
    captured(
        &stage,
        &adds(2, 3, "It is 5."),
        &["-o", "base.json", "--invariants", "rules.json"],
    );
    captured(&stage, &adds(2, 3, "The sum is 5."), &["-o", "new.json"]);
    let before = stage.read("base.json");
    let words = ["accept", "new.json", "--baseline", "base.json"];
    let mut refused = command(&stage, None, &words);
    let refused = said(refused.env("CI", "true"));
    assert_eq!(
        (refused.status, stage.read("base.json")),
        (2, before.clone())
    );
    assert!(
        refused.err.contains("--allow-update-in-ci"),
        "{}",
        refused.err
    );

    let accepted = well(&stage, None, &words);
    assert!(accepted.out.contains("The sum is 5."), "{}", accepted.out);
    let after: Value = serde_json::from_str(&stage.read("base.json")).expect("JSON");
    assert_eq!(after["invariants"], rules, "the candidate had none");
    assert_eq!(compared(&stage, &["diff", "base.json", "new.json"]).0, 0);
    let again = well(&stage, None, &words);
    assert!(again.err.contains("is unchanged"), "{}", again.err);
    // A capture into the file preserves them as well.
    captured(&stage, &adds(2, 3, "It is 5."), &["-o", "base.json"]);
    let third: Value = serde_json::from_str(&stage.read("base.json")).expect("JSON");
    assert_eq!(third["invariants"], rules);
}

#[test]
fn the_invariants_of_the_baseline_count_with_the_time_that_was_taken() {
    let stage = Stage::new();
    stage.write("suite.yaml", &suite(""));
    let rules = json!([{"name": "fast", "kind": "latency_under_ms", "condition": {"ms": 150}, "id": "*step-2"}]);
    stage.write("rules.json", &rules.to_string());
    captured(
        &stage,
        &adds(2, 3, "It is 5."),
        &["-o", "base.json", "--invariants", "rules.json"],
    );
    let slow = json!({"key": KEY, "turns": [
        {"text": "Let me add.", "tools": [{"name": "add", "arguments": {"b": 3, "a": 2}}]},
        {"text": "It is 5.", "delay_ms": 200},
    ]});
    captured(&stage, &slow, &["-o", "slow.json"]);
    let (status, report) = compared(&stage, &["diff", "base.json", "slow.json"]);
    assert_eq!(
        (status, found(&report)),
        (1, vec!["step-2 invariant FAIL".to_owned()]),
        "{report:#}"
    );
    assert_eq!(report["invariant_results"][0][1]["passed"], false);
}

#[test]
fn no_secret_is_in_a_capture() {
    let stage = Stage::new();
    let env =
        "    env: { API_TOKEN: \"${TOKEN}\" }\nvariables:\n  TOKEN: { from_env: TOKEN }\nagents:";
    stage.write("suite.yaml", &suite("").replace("agents:", env));
    let secret = "hunter2-Xq7vB2kPz9sLm4Wd8";
    let provider = Provider::start(&json!({"key": KEY, "turns": [
        {"text": format!("The token is {secret}."), "tools": [{"name": "add", "arguments": {"a": 2, "b": 3, "password": secret}}]},
        {"text": "It is 5."},
    ]}));
    let mut hashes = Vec::new();
    for token in [secret, "another-secret-5rT8wQ1zN6"] {
        let words = ["capture", "suite.yaml", "--live"];
        let said = said(command(&stage, Some(&provider), &words).env("TOKEN", token));
        assert_eq!(said.status, 0, "{}", said.err);
        assert!(
            !said.out.contains(KEY) && !said.out.contains(token),
            "{}",
            said.out
        );
        let file: Value = serde_json::from_str(&said.out).expect("JSON");
        hashes.push(file["server_config_hash"].clone());
    }
    assert_eq!(
        hashes[0], hashes[1],
        "a secret is no part of the configuration"
    );
}

#[test]
fn a_recording_of_an_agent_is_a_source() {
    let stage = Stage::new();
    crate::replay::models::recording(&stage.path("run"));
    let words = [
        "capture",
        "--recording",
        "run/",
        "--test",
        "suite.yaml::sums",
        "-o",
        "one.json",
    ];
    well(&stage, None, &words);
    well(&stage, None, &[&words[..6], &["two.json"]].concat());
    assert_eq!(stage.read("one.json"), stage.read("two.json"));
    let file: Value = serde_json::from_str(&stage.read("one.json")).expect("JSON");
    assert_eq!(file["assertions"][0]["id"], "suite.yaml::sums::step-1");
    assert!(file["assertions"][0]["latency_ms"].is_u64(), "{file:#}");
    assert_ne!(file["model_version"], "unknown", "{file:#}");
    let words = [
        "run",
        "--recording",
        "run/",
        "--recording",
        "run/",
        "--test",
        "suite.yaml::sums",
        "--baseline",
        "one.json",
    ];
    assert!(well(&stage, None, &words).out.contains("Result: PASS"));
}
