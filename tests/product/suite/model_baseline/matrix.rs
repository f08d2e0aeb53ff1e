//! Many models against one baseline.

use serde_json::{Value, json};

use super::super::stage::Stage;
use super::{KEY, captured, command, run, suite};
use crate::support::provider::Provider;

#[test]
fn every_model_that_a_suite_is_meant_for_has_its_column() {
    let stage = Stage::new();
    let script = json!({"key": KEY, "turns": [{"text": "It is 5."}]});
    stage.write("suite.yaml", &suite(""));
    captured(&stage, &script, &["-o", "base.json"]);
    let meant = "model_compatibility: [claude-sonnet-4-5, \"openai:gpt-5\", gemini-2.5-pro]\n";
    let more =
        "  - { name: \"less | more\", model: claude-sonnet-4-5, servers: [peer], prompt: More? }\n";
    stage.write("suite.yaml", &format!("{meant}{}", suite(more)));
    let provider = Provider::start(&script);
    let matrix = |words: &[&str]| {
        let all = [&["run", "suite.yaml", "--baseline", "base.json"], words].concat();
        super::said(&mut command(&stage, Some(&provider), &all))
    };
    let pretty = matrix(&["--save", "candidates"]);
    // The third has no key.
    assert_eq!(pretty.status, 2, "{}", pretty.out);
    let models = [
        "anthropic:claude-sonnet-4-5",
        "openai:gpt-5",
        "google:gemini-2.5-pro",
    ];
    for model in models {
        assert!(pretty.out.contains(model), "{}", pretty.out);
    }
    let line = pretty
        .out
        .lines()
        .find(|line| line.contains("sums"))
        .expect("a line");
    assert!(
        line.contains("pass") && line.contains("not captured"),
        "{}",
        pretty.out
    );
    let line = pretty
        .out
        .lines()
        .find(|line| line.contains("less"))
        .expect("a line");
    assert!(line.contains("drift tool_calls 1"), "{}", pretty.out);
    assert!(
        pretty
            .out
            .contains("GEMINI_API_KEY or GOOGLE_API_KEY is not set"),
        "{}",
        pretty.out
    );
    assert!(stage.path("candidates/openai_gpt-5.json").exists());
    assert!(!stage.path("candidates/google_gemini-2.5-pro.json").exists());

    let markdown = matrix(&["--format", "markdown"]).out;
    assert!(markdown.contains("less \\| more"), "{markdown}");
    let html = matrix(&["--format", "html"]).out;
    assert!(
        html.contains("<details><summary>drift tool_calls 1</summary>"),
        "{html}"
    );
    let told: Value = serde_json::from_str(&matrix(&["--json"]).out).expect("JSON");
    assert_eq!(told["models"][2]["outcome"], "not captured");
    assert_eq!(
        told["tests"][1]["models"]["openai:gpt-5"], "pass",
        "{told:#}"
    );
    for format in ["junit", "github"] {
        assert_eq!(matrix(&["--format", format]).status, 2);
    }
    let before = provider.requests().len();
    let one = matrix(&["--model", "gpt-5", "--filter", "*::sums::*"]);
    assert_eq!(one.status, 0, "{}", one.out);
    let asked = provider.requests().len() - before;
    assert_eq!(asked, 1, "what the filter leaves out is not asked");
}

#[test]
fn a_baseline_is_of_one_model() {
    let stage = Stage::new();
    let models = suite("").replace(
        "model: claude-sonnet-4-5",
        "models: [gpt-5, claude-sonnet-4-5]",
    );
    stage.write("suite.yaml", &models);
    let said = run(&stage, None, &["capture", "suite.yaml"]);
    assert_eq!(said.status, 2);
    assert!(
        said.err
            .contains("openai:gpt-5, anthropic:claude-sonnet-4-5"),
        "{}",
        said.err
    );
}
