//! A folder with a suite in it, and the command around it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::system::output;
use crate::support::{peer, tapewright};

/// A folder for one test.
pub(super) struct Stage {
    folder: tempfile::TempDir,
}

/// The output of a run.
pub(super) struct CommandOutput {
    pub(super) status: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// A command of the binary that keeps its state in the folder.
    pub(super) fn command(&self) -> Command {
        let mut command = tapewright();
        command
            .env("TAPEWRIGHT_HOME", self.path("state"))
            .env("PEER", peer())
            .env_remove("CI")
            .current_dir(self.folder.path());
        // No test uses a real model.
        for name in [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "MISTRAL_API_KEY",
        ] {
            command.env_remove(name);
        }
        command
    }

    /// `tapewright run` with these words.
    pub(super) fn run(&self, words: &[&str]) -> CommandOutput {
        said(self.command().arg("run").args(words))
    }

    /// The same, reported as JSON.
    pub(super) fn json(&self, words: &[&str]) -> (i32, Value) {
        let said = self.run(&[words, &["--reporter", "json"]].concat());
        let value = serde_json::from_str(&said.out);
        let value = value.unwrap_or_else(|error| panic!("{error}: {}\n{}", said.out, said.err));
        (said.status, value)
    }
}

/// Runs a command to its end.
pub(super) fn said(command: &mut Command) -> CommandOutput {
    let Output {
        status,
        stdout,
        stderr,
    } = output(command).expect("the binary runs");
    CommandOutput {
        status: status.code().unwrap_or(-1),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

/// Name and status of every test of a report, in order.
pub(super) fn verdicts(report: &Value) -> Vec<(String, String)> {
    let tests = report["suites"][0]["tests"].as_array().expect("tests");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    tests
        .iter()
        .map(|test| (text(&test["name"]), text(&test["status"])))
        .collect()
}

/// The suite that every way of running must judge equally.
pub(super) fn everything() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/everything.yaml")
}

/// A suite with one server, the peer, and the given rest.
pub(super) fn with_peer(rest: &str) -> String {
    format!("servers:\n  peer:\n    command: [\"${{PEER}}\", \"suite\"]\n{rest}")
}
