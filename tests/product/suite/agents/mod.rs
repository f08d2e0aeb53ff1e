//! Agent tests: a model, or its cassette, at work with servers.

mod cassettes;
mod faults;
mod live;
mod money;
mod page;
mod recovery;

use std::process::Command;

use serde_json::{Value, json};

use super::stage::{CommandOutput, Stage, said, with_peer};
use crate::support::provider::Provider;

/// The key that the scripted provider requires.
const KEY: &str = "sk-ant-told-and-never-written";

/// A provider with these turns, which requires the key.
fn provider(turns: &Value) -> Provider {
    Provider::start(&json!({"key": KEY, "turns": turns}))
}

/// Adds two numbers and reports the sum.
fn adder() -> Provider {
    provider(&json!([
        {"tools": [{"name": "add", "arguments": {"a": 2, "b": 3}}]},
        {"text": "It is 5."},
    ]))
}

/// A suite with one agent test and the peer.
fn agent(rest: &str) -> String {
    let test =
        format!("agents:\n  - name: sums\n    servers: [peer]\n    prompt: What is 2 + 3?\n{rest}");
    with_peer(&test)
}

/// The usual expectations about `adder`.
const EXPECTS: &str = "    model: claude-sonnet-4-5\n    expect:\n      - { target: \"tool_calls[0].name\", matcher: { exact: add } }\n      - { target: final_response, matcher: { contains: \"5\" } }\n";

/// `tapewright run` with these arguments; the models of Anthropic are served by the provider.
fn command(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> Command {
    let mut command = stage.command();
    if let Some(provider) = provider {
        command.envs(provider.variables(KEY));
    }
    command.arg("run").args(words);
    command
}

fn run(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> CommandOutput {
    said(&mut command(stage, provider, words))
}

/// The same, reported as JSON.
fn report(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> (i32, Value) {
    let words = [words, &["--reporter", "json"]].concat();
    let said = run(stage, provider, &words);
    let value = serde_json::from_str(&said.out);
    let value = value.unwrap_or_else(|error| panic!("{error}: {}\n{}", said.out, said.err));
    (said.status, value)
}

fn tests(report: &Value) -> &Vec<Value> {
    report["suites"][0]["tests"].as_array().expect("tests")
}
