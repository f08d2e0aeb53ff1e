//! Model baselines: captured, compared, run, accepted.

mod bad;
mod captures;
mod matrix;
#[cfg(unix)]
mod story;

use std::process::Command;

use serde_json::{Value, json};

use super::stage::{CommandOutput, Stage, said, with_peer};
use crate::support::provider::Provider;

const KEY: &str = "sk-ant-told-and-never-written";

/// A suite with one agent test and the peer.
fn suite(rest: &str) -> String {
    let test = format!(
        "agents:\n  - name: sums\n    model: claude-sonnet-4-5\n    servers: [peer]\n    prompt: What is 2 + 3?\n{rest}"
    );
    with_peer(&test)
}

/// Adds these numbers, in this order, and replies with this text.
fn adds(a: u64, b: u64, text: &str) -> Value {
    json!({"key": KEY, "turns": [
        {"text": "Let me add.", "tools": [{"name": "add", "arguments": {"b": b, "a": a}}]},
        {"text": text},
    ]})
}

/// `tapewright model-baseline` with these arguments, with the models served by a provider.
fn command(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> Command {
    let mut command = stage.command();
    if let Some(provider) = provider {
        command
            .env("ANTHROPIC_BASE_URL", provider.url())
            .env("ANTHROPIC_API_KEY", KEY)
            .env("OPENAI_BASE_URL", format!("{}/v1", provider.url()))
            .env("OPENAI_API_KEY", KEY);
    }
    command.arg("model-baseline").args(words);
    command
}

fn run(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> CommandOutput {
    said(&mut command(stage, provider, words))
}

/// The same, which must succeed.
fn well(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> CommandOutput {
    let said = run(stage, provider, words);
    assert_eq!(said.status, 0, "{words:?}\n{}{}", said.out, said.err);
    said
}

/// Runs a provider with this script, and captures its answers.
fn captured(stage: &Stage, script: &Value, words: &[&str]) {
    let provider = Provider::start(script);
    let words = [&["capture", "suite.yaml", "--live"], words].concat();
    well(stage, Some(&provider), &words);
}

/// A comparison as JSON, and its status.
fn compared(stage: &Stage, words: &[&str]) -> (i32, Value) {
    let said = run(stage, None, &[words, &["--json"]].concat());
    let value = serde_json::from_str(&said.out);
    let value = value.unwrap_or_else(|error| panic!("{error}: {}\n{}", said.out, said.err));
    (said.status, value)
}

/// The positions where a file does not match its published schema.
fn misfits(file: &Value) -> Vec<String> {
    let schema = include_str!("../../../../schemas/json/model-baseline.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    let errors = validator.iter_errors(file);
    let errors = errors.map(|error| format!("{}: {error}", error.instance_path()));
    errors.collect()
}

/// Category, severity and step of the findings, without unchanged ones.
fn found(report: &Value) -> Vec<String> {
    let entries = report["entries"].as_array().expect("entries").iter();
    let entries = entries.filter(|entry| entry["severity"] != "PASS");
    let told = entries.map(|entry| {
        let text = |name: &str| entry[name].as_str().expect("text").to_owned();
        let noise = if entry["noise"] == true { " noise" } else { "" };
        let id = text("test_id");
        let step = id.rsplit("::").next().unwrap_or_default();
        format!("{step} {} {}{noise}", text("category"), text("severity"))
    });
    told.collect()
}
