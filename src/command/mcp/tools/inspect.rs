//! `inspect_recording`: what is on one.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_models::prices::Prices;

use super::Spec;
use crate::command::inspect;
use crate::command::mcp::answer::{Answer, bounded};
use crate::command::mcp::{Sources, asked};

pub(super) const SPEC: Spec = Spec {
    name: "inspect_recording",
    title: "Inspect a recording",
    about: "What is on a recording: who spoke, sessions, requests and tools with counts, errors, \
        latencies and bytes, what hung, injected faults, findings, calls of models, and how it \
        ends. The same as `tapewright inspect --json`, with long lists cut.",
    input,
    output,
    is_live: false,
    call,
};

/// A request that waited so long is called a hang.
pub(super) const HANG_AFTER: Duration = Duration::from_secs(30);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    recording: String,
}

fn input() -> Value {
    asked::object(&json!({ "recording": asked::recording() }), &["recording"])
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["recording", "report", "left_out", "redactions"],
        "properties": {
            "recording": { "type": "string" },
            "report": {
                "type": "object",
                "description": "The object of `tapewright inspect --json`: `tapewright schema inspect` has its whole schema.",
                "required": ["kind", "sessions", "methods", "hangs_count", "unanswered_count", "ended"],
                "properties": {
                    "kind": { "type": "string" },
                    "protocol_version": { "type": ["string", "null"] },
                    "sessions": { "type": "integer" },
                    "duration_ms": { "type": ["number", "null"] },
                    "methods": { "type": "array", "items": { "type": "object" } },
                    "tools": { "type": "array", "items": { "type": "object" } },
                    "hangs_count": { "type": "integer" },
                    "unanswered_count": { "type": "integer" },
                    "ended": { "type": "object" }
                }
            },
            "left_out": { "type": "object", "description": "How many elements of which list were left out.", "additionalProperties": { "type": "integer" } },
            "redactions": { "type": "object", "description": "Secrets that were replaced, by kind.", "additionalProperties": { "type": "integer" } }
        }
    }"#,
    )
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    of(sources, &asked.recording)
}

/// What is on a recording.
pub(in crate::command::mcp) fn of(sources: &Sources, name: &str) -> anyhow::Result<Answer> {
    let (found, recording) = sources.recordings.read(name)?;
    let told = inspect::alone(recording, HANG_AFTER, &Prices::built_in())?;
    let text = told.text();
    let mut report = serde_json::to_value(&told)?;
    let mut redactions = json!({});
    if let Some(members) = report.as_object_mut() {
        // Where the folder is tells nothing of the recording.
        members.remove("file");
        redactions = members.remove("redactions").unwrap_or(redactions);
    }
    let left_out = bounded(&mut report);
    let path = found.path.display().to_string();
    let text = text.replace(&crate::report::safe(&path), &crate::report::safe(name));
    let told = json!({ "recording": found.name, "report": report });
    let answer = Answer::new(told, text);
    Ok(answer
        .with("left_out", left_out)
        .with("redactions", redactions))
}
