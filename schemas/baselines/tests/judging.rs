//! Invariants, identity, filters, fingerprints, noise.

#![expect(clippy::float_cmp, reason = "a distance is the same each time")]

use serde_json::{Value, json};
use tapewright_baselines::{
    Answer, Baseline, Comparison, Ended, Exchange, Field, Glob, Identity, Members, Options,
    Outcome, ToolCall, compare, config_hash, merge, read_invariants,
};

fn answer(text: &str, tools: &[(&str, Value)]) -> Answer {
    let content = vec![json!({"type": "text", "text": text})];
    let tool_calls = tools.iter().map(|(name, arguments)| ToolCall {
        name: (*name).to_owned(),
        arguments: arguments.clone(),
        raw_arguments: Some(arguments.to_string()),
        more: Members::new(),
    });
    Answer {
        content,
        tool_calls: tool_calls.collect(),
        finish_reason: if tools.is_empty() {
            Ended::Stop
        } else {
            Ended::ToolUse
        },
        latency_ms: Some(400),
    }
}

fn capture(answers: Vec<Answer>) -> Baseline {
    let identity = Identity {
        model_id: "openai:gpt-5".to_owned(),
        model_version: "gpt-5-2025-08-07".to_owned(),
        mcptest_version: "0.1.0".to_owned(),
        server_version: "1".to_owned(),
        server_config_hash: config_hash(&Value::Null),
    };
    let answers = (1..).zip(answers);
    let exchanges = answers.map(|(at, answer)| Exchange::new(format!("a::t::step-{at}"), answer));
    Baseline::new(identity, exchanges.collect())
}

fn plain(baseline: &Baseline, candidate: &Baseline) -> Comparison {
    compare(baseline, candidate, &Options::default())
}

/// Category, severity and whether it is noise, without unchanged entries.
fn told(found: &Comparison) -> Vec<(&'static str, &'static str, bool)> {
    let entries = found.entries.iter();
    let told = entries.map(|one| (one.category.name(), one.severity.name(), one.is_noise));
    told.filter(|one| one.1 != "PASS").collect()
}

fn invariant(kind: &str, condition: &Value) -> String {
    json!([{"name": "it", "kind": kind, "condition": condition}]).to_string()
}

#[test]
fn each_kind_of_invariant_holds_and_breaks() {
    let call = [("look", json!({"id": 7}))];
    let twice = [("look", json!({"id": 7})), ("look", json!({}))];
    let slow = Answer {
        latency_ms: Some(500),
        ..answer("Found it", &call)
    };
    let unknown = Answer {
        latency_ms: None,
        ..answer("Found it", &call)
    };
    for (kind, condition, candidate, holds) in [
        (
            "tool_called",
            json!({"tool": "look"}),
            answer("x", &call),
            true,
        ),
        (
            "tool_called",
            json!({"tool": "look"}),
            answer("x", &[]),
            false,
        ),
        (
            "arg_present",
            json!({"tool": "look", "arg": "id"}),
            answer("x", &call),
            true,
        ),
        (
            "arg_present",
            json!({"tool": "look", "arg": "id"}),
            answer("x", &twice),
            false,
        ),
        (
            "arg_present",
            json!({"tool": "look", "arg": "no"}),
            answer("x", &call),
            false,
        ),
        (
            "arg_present",
            json!({"tool": "look", "arg": "id"}),
            answer("x", &[]),
            false,
        ),
        (
            "response_field_present",
            json!({"text": "Found"}),
            answer("Found it", &[]),
            true,
        ),
        (
            "response_field_present",
            json!({"text": "found"}),
            answer("Found it", &[]),
            false,
        ),
        (
            "response_semantic_match",
            json!({"text": "FOUND"}),
            answer("Found it", &[]),
            true,
        ),
        (
            "response_semantic_match",
            json!({"text": "lost"}),
            answer("Found it", &[]),
            false,
        ),
        (
            "latency_under_ms",
            json!({"ms": 500}),
            answer("x", &[]),
            true,
        ),
        ("latency_under_ms", json!({"ms": 500}), slow, false),
        ("latency_under_ms", json!({"ms": 500}), unknown, false),
    ] {
        let candidate = capture(vec![candidate]);
        let baseline = Baseline {
            invariants: read_invariants(invariant(kind, &condition).as_bytes()).unwrap(),
            ..candidate.clone()
        };
        // The candidate has none: the baseline's are used.
        let found = plain(&baseline, &candidate);
        assert_eq!(found.invariants.len(), 1);
        assert_eq!(
            found.invariants[0].violation.is_none(),
            holds,
            "{kind} {condition}"
        );
        let wanted: &[_] = if holds {
            &[]
        } else {
            &[("invariant", "FAIL", false)]
        };
        assert_eq!(told(&found), wanted, "{kind} {condition}");
    }
}

#[test]
fn an_invariant_with_a_pattern_speaks_of_the_exchanges_that_it_takes() {
    let mut baseline = capture(vec![answer("x", &[("look", json!({}))]), answer("y", &[])]);
    let list = json!([{"name": "it", "kind": "tool_called", "condition": {"tool": "look"}, "id": "*::step-1"}]);
    baseline.invariants = read_invariants(list.to_string().as_bytes()).unwrap();
    assert_eq!(plain(&baseline, &baseline).outcome(), Outcome::Pass);
    baseline.invariants[0].id = None;
    assert_eq!(plain(&baseline, &baseline).outcome(), Outcome::Fail);
}

#[test]
fn another_configuration_invalidates_and_can_be_ignored() {
    let baseline = capture(vec![answer("x", &[])]);
    let mut candidate = capture(vec![answer("x", &[("look", json!({}))])]);
    candidate.identity.server_config_hash = config_hash(&json!({"command": ["other"]}));
    candidate.identity.model_id = "openai:gpt-6".to_owned();
    let found = plain(&baseline, &candidate);
    let fields: Vec<Field> = found.identity.iter().map(|one| one.field).collect();
    assert_eq!(fields, [Field::ServerConfigHash, Field::ModelId]);
    assert_eq!(
        (found.outcome(), found.entries.len()),
        (Outcome::Invalid, 0)
    );
    let options = Options {
        ignore_config: true,
        ..Options::default()
    };
    assert_eq!(
        compare(&baseline, &candidate, &options).outcome(),
        Outcome::Fail
    );
}

#[test]
fn a_filter_leaves_the_rest_out_on_both_sides() {
    let baseline = capture(vec![answer("x", &[]), answer("y", &[])]);
    let candidate = capture(vec![answer("x", &[])]);
    assert_eq!(plain(&baseline, &candidate).outcome(), Outcome::Fail);
    let only = |pattern| Options {
        filter: Some(Glob::new(pattern)),
        ..Options::default()
    };
    assert_eq!(
        compare(&baseline, &candidate, &only("*step-1")).outcome(),
        Outcome::Pass
    );
    assert_eq!(
        compare(&baseline, &candidate, &only("nothing")).outcome(),
        Outcome::Empty
    );
}

#[test]
fn a_fingerprint_is_made_of_what_the_format_says() {
    let calls = [("b", json!({"z": 1, "a": 2})), ("c", json!([1]))];
    let one = capture(vec![answer("x", &calls)]);
    // printf 'exchange:a::t::step-1|finish:tool_use|tool:b|args:a,z,|tool:c|args:' | sha256sum
    let digest = "04f166b893ffd28d7910ca2093c3f1d60d6225904ff49670fe96249de780e26d";
    let found = plain(&one, &one).fingerprint;
    assert_eq!((found.baseline.as_str(), found.distance), (digest, 0.0));
    let other = capture(vec![answer(
        "x",
        &[("b", json!({"z": 1, "a": 2})), ("d", json!({}))],
    )]);
    let found = plain(&one, &other).fingerprint;
    assert!(found.tool_sequence_changed && !found.finish_reasons_changed);
    assert_eq!(found.distance, 0.25);
    let keys = capture(vec![answer(
        "x",
        &[("b", json!({"z": 1})), ("c", json!([1]))],
    )]);
    assert_eq!(plain(&one, &keys).fingerprint.distance, 0.1);
}

#[test]
fn what_a_model_shows_against_itself_is_noise() {
    let call = |id: u64| [("look", json!({"id": id, "by": "name"}))];
    let baseline = capture(vec![answer("Found it", &call(7))]);
    let run = |text: &str, id| capture(vec![answer(text, &call(id))]);
    let of = |runs: Vec<Baseline>| told(&plain(&baseline, &merge(runs).unwrap()));
    // A single run is not enough.
    assert_eq!(
        of(vec![run("Here it is", 7)]),
        [("response_semantics", "DRIFT", false)]
    );
    assert_eq!(
        of(vec![run("Here it is", 7), run("It is here", 7)]),
        [("response_semantics", "DRIFT", true)]
    );
    // The same wrong value each time is a failure, and so are two wrong ones.
    assert_eq!(
        of(vec![run("Found it", 8), run("Found it", 8)]),
        [("tool_args", "FAIL", false)]
    );
    assert_eq!(
        of(vec![run("Found it", 8), run("Found it", 9)]),
        [("tool_args", "FAIL", false)]
    );
    // Once right, once wrong, in either order.
    for (one, other) in [(7, 8), (8, 7)] {
        let runs = vec![run("Found it", one), run("Found it", other)];
        assert_eq!(of(runs), [("tool_args", "FAIL", true)], "{one} {other}");
    }
    let twice = merge(vec![run("Found it", 7), run("Found it", 7)]).unwrap();
    assert_eq!(plain(&baseline, &twice).outcome(), Outcome::Pass);
    assert!(twice.exchanges[0].variants.is_empty());
}

#[test]
fn noise_of_the_baseline_is_noise_as_well() {
    let run = |text: &str| capture(vec![answer(text, &[])]);
    let baseline = merge(vec![run("a b"), run("c d")]).unwrap();
    assert_eq!(
        told(&plain(&baseline, &run("e f"))),
        [("response_semantics", "DRIFT", true)]
    );
    // It is preserved in the file.
    let read = Baseline::read(baseline.write().as_bytes()).unwrap();
    assert_eq!(read, baseline);
    assert_eq!(read.write(), baseline.write());
}

#[test]
fn a_step_that_is_not_there_in_every_run_is_noise() {
    let long = || capture(vec![answer("a", &[]), answer("b", &[])]);
    let short = || capture(vec![answer("a", &[])]);
    let found = plain(&short(), &merge(vec![long(), short()]).unwrap());
    assert_eq!(told(&found), [("tool_calls", "DRIFT", true)]);
    let found = plain(&merge(vec![long(), short()]).unwrap(), &short());
    assert_eq!(told(&found), [("tool_calls", "FAIL", true)]);
    let found = plain(&merge(vec![long(), long()]).unwrap(), &short());
    assert_eq!(told(&found), [("tool_calls", "FAIL", false)]);
}

#[test]
fn an_invariant_has_to_hold_in_every_run() {
    let run = |text: &str| capture(vec![answer(text, &[])]);
    let list = invariant("response_field_present", &json!({"text": "paid"}));
    let baseline = Baseline {
        invariants: read_invariants(list.as_bytes()).unwrap(),
        ..run("It is paid")
    };
    let found = plain(
        &baseline,
        &merge(vec![run("It is paid"), run("Who knows")]).unwrap(),
    );
    assert_eq!(found.outcome(), Outcome::Fail);
}
