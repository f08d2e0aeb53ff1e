//! Faults on the wire, in real time, before servers that are URLs.

mod kinds;
mod recovery;

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::super::stage::Stage;
use super::{report, tests};
use crate::support::http::Gateway;
use crate::support::peer;
use crate::support::provider::Provider;

/// A server on HTTP that runs.
enum Server {
    /// The peer with a few features of every kind, behind tapewright's HTTP front: streamable HTTP,
    /// and HTTP+SSE at another path.
    Suite(Gateway),
    /// One on rmcp.
    Rmcp(Child, String),
}

impl Server {
    fn suite() -> Self {
        let peer = peer().display().to_string();
        Self::Suite(Gateway::start(&[
            "--listen",
            "127.0.0.1:0",
            "--",
            &peer,
            "suite",
        ]))
    }

    fn rmcp() -> Self {
        let mut child = Command::new(peer())
            .arg("rmcp-http")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        let output = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(output)
            .read_line(&mut line)
            .expect("its address");
        let line: Value = serde_json::from_str(&line).expect("JSON");
        let url = line["listening"].as_str().expect("a URL").to_owned();
        Self::Rmcp(child, url)
    }

    /// The URL for streamable HTTP.
    fn url(&self) -> &str {
        match self {
            Self::Suite(front) => front.line["listening"].as_str().expect("a URL"),
            Self::Rmcp(_, url) => url,
        }
    }

    /// The URL for HTTP+SSE.
    fn legacy(&self) -> String {
        self.url().replace("/mcp", "/sse")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Self::Rmcp(child, _) = self {
            child.kill().ok();
            child.wait().ok();
        }
    }
}

/// A suite with one server and these faults; an agent for each, that meets it.
fn suite(url: &str, faults: &[(&str, &str)], agents: &str) -> String {
    let mut text = format!("servers:\n  peer: {{ url: \"{url}\" }}\nfaults:\n");
    for (name, wire) in faults {
        writeln!(text, "  - {{ name: {name}, wire: '{wire}' }}").expect("a text");
    }
    text + "agents:\n" + agents
}

/// Name, status and reasons of every row.
fn rows(told: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tests(told)
        .iter()
        .map(|row| {
            (
                text(&row["name"]),
                text(&row["status"]),
                text(&row["reasons"][0]),
            )
        })
        .collect()
}

/// Runs a suite with a provider and records it; then from its cassettes alone, which must have the
/// same verdicts. Returns the rows.
fn live_and_replayed(
    stage: &Stage,
    provider: &Provider,
    suite: &str,
) -> Vec<(String, String, String)> {
    stage.write("suite.yaml", suite);
    let words = ["suite.yaml", "--record", "--parallel", "4"];
    let (_, live) = report(stage, Some(provider), &words);
    let gone = suite.replace("http://127.0.0.1:", "http://127.0.0.1:1/gone-");
    stage.write("suite.yaml", &gone);
    let (_, replayed) = report(stage, None, &["suite.yaml"]);
    let live_rows = rows(&live);
    assert_eq!(live_rows, rows(&replayed), "{live:#} {replayed:#}");
    live_rows
}
