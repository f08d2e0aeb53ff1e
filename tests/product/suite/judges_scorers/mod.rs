//! Grading other than by models that read a rubric: embeddings, programs; and how judges are
//! compared with people.

mod calibrate;
mod scorers;
mod similar;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::stage::{CommandOutput, Stage, said};
use crate::support::provider::Provider;

/// The key that the scripted provider requires.
const KEY: &str = "sk-ant-told-and-never-written";

/// `tapewright` with these arguments; the models of every family are served by the provider.
fn command(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> Command {
    let mut command = stage.command();
    if let Some(provider) = provider {
        command.envs(provider.variables(KEY));
    }
    command.args(words);
    command
}

/// The same, reported as JSON.
fn report(stage: &Stage, provider: Option<&Provider>, words: &[&str]) -> (i32, Value) {
    let words = [words, &["--reporter", "json"]].concat();
    let said = said(&mut command(stage, provider, &words));
    let value = serde_json::from_str(&said.out);
    let value = value.unwrap_or_else(|error| panic!("{error}: {}\n{}", said.out, said.err));
    (said.status, value)
}

fn tests(report: &Value) -> &Vec<Value> {
    report["suites"][0]["tests"].as_array().expect("tests")
}

/// The status of each test.
fn statuses(report: &Value) -> Vec<&str> {
    let tests = tests(report).iter();
    tests
        .map(|test| test["status"].as_str().expect("a status"))
        .collect()
}

/// Every file below a folder that holds this text.
fn holding(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(text)
        {
            found.push(path.display().to_string());
        }
    }
    found
}
