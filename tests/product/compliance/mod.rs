//! Judging: while it is recorded, and from files.

mod carriers;
mod corpora;
mod corpus;
mod doctor;
mod evidence;
mod explain;
mod faulted;
mod folders;
mod formats;
mod gaps;
mod hangs;
mod live;
mod oracle;

use serde_json::Value;
use tapewright_schemas::event::{EventBody, Finding};

use crate::support::{Session, Tape, tapewright};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// A server that answers a line matching a pattern of the shell.
fn server(cases: &[(&str, &str)]) -> String {
    let case = |(pattern, reply): &(&str, &str)| format!("*{pattern}*) printf '%s\\n' '{reply}';;");
    let cases: Vec<String> = cases.iter().map(case).collect();
    format!(
        "while read -r line; do case \"$line\" in {} esac; done",
        cases.join(" ")
    )
}

/// Opens a session with such a server.
fn handshake(session: &mut Session) {
    session.send(INITIALIZE);
    assert_eq!(session.line(), RESULT);
    session.send(INITIALIZED);
}

/// The findings of judges on a tape.
fn findings(tape: &Tape) -> Vec<Finding> {
    let finding = |body: &EventBody| match body {
        EventBody::Finding(finding) => Some((**finding).clone()),
        _ => None,
    };
    tape.events
        .iter()
        .filter_map(|event| finding(&event.body))
        .collect()
}

/// The findings of `compliance invariants --all` in a file: code, detail and evidence.
fn from_disk(path: &std::path::Path) -> Vec<(String, String, Vec<u64>)> {
    let output = tapewright()
        .args([
            "compliance",
            "invariants",
            "--all",
            "--format",
            "json",
            "--capture",
        ])
        .arg(path)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut found = Vec::new();
    for server in report["servers"].as_array().unwrap() {
        for outcome in server["outcomes"].as_array().unwrap() {
            for finding in outcome["findings"].as_array().unwrap() {
                let places = finding["evidence"].as_array().unwrap();
                found.push((
                    outcome["id"].as_str().unwrap().to_owned(),
                    finding["detail"].as_str().unwrap().to_owned(),
                    places
                        .iter()
                        .map(|one| one["seq"].as_u64().unwrap())
                        .collect(),
                ));
            }
        }
    }
    found.sort();
    found
}
