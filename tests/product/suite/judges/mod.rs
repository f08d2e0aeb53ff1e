//! Judging by models: matchers, metrics and evaluations, live and from recordings.

mod evals;
mod examples;
mod matchers;
mod metrics;
mod recorded;

use std::process::Command;

use serde_json::{Value, json};

use super::stage::{CommandOutput, Stage, said, verdicts, with_peer};
use crate::support::provider::Provider;

/// The key that the scripted provider requires.
const KEY: &str = "sk-ant-judges-and-never-written";

/// A judge with these turns; after an answer that is not a verdict, the next turn is requested.
fn judge(turns: &Value) -> Provider {
    Provider::start(&json!({"key": KEY, "turns": turns}))
}

/// A verdict as most judges write it.
fn verdict(pass: bool, score: f64, reason: &str) -> Value {
    json!({"text": json!({"pass": pass, "score": score, "reason": reason}).to_string()})
}

fn passing() -> Provider {
    judge(&json!([verdict(true, 0.9, "it greets")]))
}

fn failing() -> Provider {
    judge(&json!([verdict(false, 0.25, "it is rude")]))
}

/// A suite in which the echo of a text is judged by this matcher.
fn echo(message: &str, matcher: &str) -> String {
    with_peer(&format!(
        "tools:\n  - name: greets\n    server: peer\n    tool: echo\n    args: {{ message: {} }}\n    expect:\n      - target: result.content[0].text\n        matcher:\n          {matcher}\n",
        json!(message)
    ))
}

/// `llm-judge` with this rubric, by a model of Anthropic.
fn llm_judge(rubric: &str) -> String {
    format!("llm-judge: {{ rubric: {rubric:?}, model: claude-sonnet-4-5 }}")
}

/// A command of tapewright; models are served by the provider.
fn command(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> Command {
    let mut command = stage.command();
    if let Some(provider) = provider {
        command.envs(provider.variables(KEY));
    }
    command.args(words);
    command
}

fn told(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> CommandOutput {
    said(&mut command(stage, provider, words))
}

/// The same, reported as JSON that matches its schema.
fn report(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> (i32, Value) {
    let said = told(stage, provider, &[words, &["--reporter", "json"]].concat());
    let value = serde_json::from_str(&said.out);
    let value = value.unwrap_or_else(|error| panic!("{error}: {}\n{}", said.out, said.err));
    let schema = include_str!("../../../../schemas/json/report.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let valid = jsonschema::validate(&schema, &value);
    assert!(valid.is_ok(), "{valid:?}\n{value:#}");
    (said.status, value)
}

fn test(report: &Value, number: usize) -> &Value {
    &report["suites"][0]["tests"][number]
}

/// The number of requests to the judge.
fn asked(provider: &Provider) -> usize {
    provider.requests().len()
}

const RUN: &[&str] = &["run", "suite.yaml"];
const RECORD: &[&str] = &["run", "suite.yaml", "--record"];
