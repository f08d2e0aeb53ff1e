//! `similar`: embeddings of every wire that has them.

use super::super::stage::with_peer;
use super::*;

/// A test whose answer is `text`, and which is to be as near as `threshold` to `value`.
fn test(name: &str, text: &str, model: &str, threshold: f64) -> Value {
    json!({
        "name": name, "server": "peer", "tool": "echo", "args": {"message": text},
        "expect": [{"target": "result.content[0].text", "matcher": {
            "similar": {"value": "the order shipped", "threshold": threshold, "model": model},
        }}],
    })
}

fn suite(tests: &[Value], provider: &str) -> String {
    let provider = json!({"own": {
        "type": "openai", "base_url": format!("{provider}/v1"), "api_key_env": "OPENAI_API_KEY",
    }});
    with_peer(&format!("providers: {provider}\ntools: {}\n", json!(tests)))
}

/// The reference, a text with the cosine 0.8, one with 0, and one whose first request is refused.
fn provider() -> Provider {
    Provider::start(&json!({"key": KEY, "turns": [], "embeddings": [
        {"when": "the order shipped", "vector": [1, 0]},
        {"when": "on its way", "vector": [0.8, 0.6]},
        {"when": "lost", "vector": [0, 1]},
        {"when": "against", "vector": [-0.5, 0]},
        [{"when": "busy", "status": 429, "retry_after": 0}, {"vector": [1, 0]}],
        {"when": "nowhere", "vector": [0, 0]},
        {"when": "wide", "vector": [1, 0, 0]},
        {"when": "half", "malformed": true},
    ]}))
}

#[test]
fn texts_are_near_or_not_on_every_wire_and_from_the_recording_as_well() {
    let (stage, provider) = (Stage::new(), provider());
    let models = [
        "text-embedding-3-small",
        "gemini-embedding-001",
        "mistral-embed",
        "own/nomic-embed-text",
    ];
    let mut tests_of_all = Vec::new();
    for model in models {
        tests_of_all.push(test(
            &format!("near {model}"),
            "it is on its way",
            model,
            0.75,
        ));
        tests_of_all.push(test(
            &format!("not so near {model}"),
            "it is on its way",
            model,
            0.85,
        ));
        tests_of_all.push(test(&format!("far {model}"), "it is lost", model, 0.1));
        tests_of_all.push(test(&format!("against {model}"), "against it", model, 0.0));
    }
    stage.write("suite.yaml", &suite(&tests_of_all, provider.url()));
    let (status, live) = report(&stage, Some(&provider), &["run", "suite.yaml", "--record"]);
    assert_eq!(status, 1, "{live:#}");
    let wanted = ["pass", "fail", "fail", "fail"].repeat(models.len());
    assert_eq!(statuses(&live), wanted, "{live:#}");
    let judgement = &tests(&live)[0]["judgements"][0];
    let score = judgement["score"].as_f64().expect("a score");
    assert!((score - 0.8).abs() < 1e-9, "{judgement}");
    assert_eq!(
        (&judgement["by"], &judgement["replayed"]),
        (&json!("similar"), &json!(false))
    );
    let wires: std::collections::BTreeSet<String> = provider
        .requests()
        .iter()
        .map(|one| one["wire"].to_string())
        .collect();
    assert_eq!(wires.len(), 2, "{wires:?}");
    // Each reference once for all tests, each answer once for each test.
    let references = provider.requests();
    let is_reference = |one: &&Value| one["body"].to_string().contains("the order shipped");
    let references = references.iter().filter(is_reference).count();
    assert!(
        (models.len()..2 * models.len()).contains(&references),
        "{references}"
    );

    drop(provider);
    let (status, later) = report(&stage, None, &["run", "suite.yaml"]);
    assert_eq!(
        (status, statuses(&later)),
        (1, statuses(&live)),
        "{later:#}"
    );
    assert_eq!(tests(&later)[0]["judgements"][0]["replayed"], true);
    assert_eq!(holding(stage.path("").as_path(), KEY), Vec::<String>::new());
}

#[test]
fn what_was_recorded_of_something_else_is_a_miss_that_says_so() {
    let (stage, provider) = (Stage::new(), provider());
    let near = test("near", "it is on its way", "text-embedding-3-small", 0.75);
    stage.write(
        "suite.yaml",
        &suite(std::slice::from_ref(&near), provider.url()),
    );
    assert_eq!(
        report(&stage, Some(&provider), &["run", "suite.yaml", "--record"]).0,
        0
    );
    let changed = near.to_string().replace("on its way", "lost");
    stage.write(
        "suite.yaml",
        &suite(
            &[serde_json::from_str(&changed).expect("JSON")],
            provider.url(),
        ),
    );
    let (status, told) = report(&stage, Some(&provider), &["run", "suite.yaml"]);
    assert_eq!((status, statuses(&told)), (2, vec!["error"]), "{told:#}");
    assert!(
        told.to_string().contains("the candidate changed"),
        "{told:#}"
    );
}

#[test]
fn a_judge_that_fails_is_no_failure_of_the_answer() {
    let (stage, provider) = (Stage::new(), provider());
    let model = "text-embedding-3-small";
    let tests_of_all = [
        test("zero", "nowhere", model, 0.5),
        test("other dimensions", "wide", model, 0.5),
        test("no JSON", "half", model, 0.5),
        test("refused once", "busy", model, 0.5),
    ];
    stage.write("suite.yaml", &suite(&tests_of_all, provider.url()));
    let (status, told) = report(&stage, Some(&provider), &["run", "suite.yaml"]);
    assert_eq!(status, 2, "{told:#}");
    assert_eq!(
        statuses(&told),
        ["error", "error", "error", "pass"],
        "{told:#}"
    );
    let said = told.to_string();
    for words in [
        "a vector is zero",
        "2 and 3 dimensions",
        "cannot read its response",
    ] {
        assert!(said.contains(words), "{words}: {told:#}");
    }
    assert!(!said.contains(KEY), "{told:#}");
}

#[test]
fn a_model_without_embeddings_is_refused_before_anything_runs() {
    let stage = Stage::new();
    stage.write(
        "suite.yaml",
        &suite(
            &[test("near", "x", "claude-sonnet-4-5", 0.5)],
            "http://127.0.0.1:9",
        ),
    );
    for verb in ["validate", "run"] {
        let said = said(&mut command(&stage, None, &[verb, "suite.yaml"]));
        let told = [said.out, said.err].concat();
        assert_eq!(said.status, 2, "{told}");
        assert!(
            told.contains("a model of Anthropic, which has no embeddings"),
            "{told}"
        );
        assert!(
            told.contains("/tools/0/expect/0/matcher/similar/model"),
            "{told}"
        );
        assert!(told.contains("text-embedding-3-small"), "{told}");
    }
}

#[test]
fn without_a_key_it_is_deferred_and_within_another_matcher_it_cannot_be_judged() {
    let stage = Stage::new();
    let near = test("near", "x", "text-embedding-3-small", 0.5);
    let mut within = near.clone();
    within["name"] = json!("within");
    let inner = near["expect"][0]["matcher"].clone();
    within["expect"][0]["matcher"] = json!({"not": inner});
    stage.write("suite.yaml", &suite(&[near, within], "http://127.0.0.1:9"));
    let (status, told) = report(&stage, None, &["run", "suite.yaml"]);
    assert_eq!(
        (status, statuses(&told)),
        (2, vec!["deferred", "error"]),
        "{told:#}"
    );
    assert!(
        told.to_string().contains("OPENAI_API_KEY is not set"),
        "{told:#}"
    );
}
