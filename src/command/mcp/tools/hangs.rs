//! `find_hangs`: what was never answered, or waited for long.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_models::prices::Prices;
use tapewright_proxy::clock;
use tapewright_schemas::summary::Hang;

use super::Spec;
use super::inspect::HANG_AFTER;
use crate::command::inspect;
use crate::command::mcp::answer::{Answer, shortened};
use crate::command::mcp::cursor::{Question, RowPosition, mark};
use crate::command::mcp::page::{Page, Row};
use crate::command::mcp::{Sources, asked};
use crate::report;

pub(super) const SPEC: Spec = Spec {
    name: "find_hangs",
    title: "Find what hangs",
    about: "Requests that were never answered, and those that waited for long: who asked, since \
        when, for how long, how it ended, and which injected fault caused it. Of a recording that \
        is still written, how long a request is pending now.",
    input,
    output,
    is_live: false,
    call,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    recording: String,
    hang_after_ms: Option<u64>,
    limit: Option<usize>,
    cursor: Option<String>,
}

fn input() -> Value {
    let members = json!({
        "recording": asked::recording(),
        "hang_after_ms": { "type": "integer", "minimum": 0, "default": HANG_AFTER.as_secs() * 1_000, "description": "Call it a hang when an answer took so long." },
        "limit": asked::limit(),
        "cursor": asked::cursor(),
    });
    asked::object(&members, &["recording"])
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["recording", "found", "never_answered", "hangs", "is_written", "next_cursor"],
        "properties": {
            "recording": { "type": "string" },
            "found": { "type": "integer", "description": "The number of them; the first thousand are listed." },
            "never_answered": { "type": "integer" },
            "hangs": { "type": "array", "items": {
                "type": "object",
                "required": ["method", "from", "id", "seq", "session", "since_ms", "waited_ms", "closed", "pending_now_ms"],
                "properties": {
                    "method": { "type": "string" },
                    "name": { "type": "string", "description": "Which tool, resource or prompt it is about." },
                    "from": { "enum": ["client", "server"], "description": "Who waits." },
                    "id": { "type": "string" },
                    "seq": { "type": "integer", "description": "Its place; `show_exchange` takes it." },
                    "session": { "type": "integer" },
                    "since_ms": { "type": ["number", "null"], "description": "Since when, from the beginning of the recording; null where the file has no times." },
                    "waited_ms": { "type": ["number", "null"], "description": "For how long, as far as the recording goes." },
                    "closed": { "type": "string", "description": "answered, cancelled, peer gone, still pending, client gone, failed, http error or no response." },
                    "fault": { "type": "object", "description": "The injected fault that caused it." },
                    "pending_now_ms": { "type": ["number", "null"], "description": "How long it is pending by now, where the recording is still written." }
                }
            } },
            "is_written": { "type": "boolean" },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    )
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let (found, recording) = sources.recordings.read(&asked.recording)?;
    let header = recording.header();
    let question = Question::of(SPEC.name)
        .about(&found.name)
        .about(&header.created)
        .about(&asked.hang_after_ms);
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let hang_after = asked
        .hang_after_ms
        .map_or(HANG_AFTER, Duration::from_millis);
    let told = inspect::alone(recording, hang_after, &Prices::built_in())?;
    let report = told.report();
    let is_written = report.ended.written_by.is_some();
    let age_ms = is_written.then(|| age_ms(&header.created)).flatten();
    let mut page = Page::new(after, asked::rows(asked.limit));
    for hang in &report.hangs {
        let place = RowPosition(hang.seq, mark(&(&hang.id, hang.from)));
        page.offer(place, || row(hang, age_ms));
    }
    let rows = page.finish();
    let (count, never) = (report.hangs_count, report.unanswered_count);
    let text = report::mcp::hangs(&found.name, count, never, &rows.lines);
    let told = json!({
        "recording": found.name,
        "found": count,
        "never_answered": never,
        "hangs": rows.values,
        "is_written": is_written,
    });
    Ok(Answer::new(told, text).going_on(&question, rows.next))
}

fn row(hang: &Hang, age_ms: Option<f64>) -> Row {
    let pending = age_ms
        .zip(hang.since_ms)
        .filter(|_| hang.closed.is_pending());
    let pending = pending.map(|(age, since)| (age - since).max(0.0));
    // A struct of strings and numbers.
    let mut value = serde_json::to_value(hang).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.insert("pending_now_ms".to_owned(), json!(pending));
    }
    shortened(&mut value);
    let line = report::mcp::hang(hang, pending);
    Row { value, line }
}

/// How long ago a recording was begun, in milliseconds.
fn age_ms(created: &str) -> Option<f64> {
    let created: jiff::Timestamp = created.parse().ok()?;
    let now = jiff::Timestamp::try_from(clock::wall()).ok()?;
    let age = now.duration_since(created);
    Some(age.as_secs_f64() * 1_000.0)
}
