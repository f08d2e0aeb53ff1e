//! `list_recordings`: what there is.

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_schemas::event::EventBody;
use tapewright_schemas::recording::FileKind;

use super::Spec;
use crate::command::mcp::answer::Answer;
use crate::command::mcp::cursor::{Question, RowPosition, mark};
use crate::command::mcp::page::{Page, Row};
use crate::command::mcp::recordings::Found;
use crate::command::mcp::{Sources, asked, resources};
use crate::files::{Recording, folder};
use crate::report;

pub(super) const SPEC: Spec = Spec {
    name: "list_recordings",
    title: "List recordings",
    about: "The recordings in the folder, the newest first: name, size, when it was last written \
        to, whether a recorder still writes it, how many sessions it holds.",
    input,
    output,
    is_live: false,
    call,
};

/// The most that is read to count sessions, in bytes of one recording and of all in an answer.
const READ_BYTES: u64 = 32 << 20;
const ALL_BYTES: u64 = 128 << 20;
/// Default number of listed recordings.
const LISTED: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    limit: Option<usize>,
    cursor: Option<String>,
}

fn input() -> Value {
    let members = json!({ "limit": asked::limit_of(LISTED), "cursor": asked::cursor() });
    asked::object(&members, &[])
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["folder", "count", "recordings", "next_cursor"],
        "properties": {
            "folder": { "type": "string" },
            "count": { "type": "integer", "description": "How many files there are in all, some of which may not be recordings." },
            "recordings": { "type": "array", "items": {
                "type": "object",
                "required": ["name", "kind", "label", "created", "changed", "bytes", "sessions", "is_written", "uri"],
                "properties": {
                    "name": { "type": "string", "description": "What other tools take as `recording`." },
                    "kind": { "type": ["string", "null"], "description": "tape, cassette or capture; null where it cannot be read." },
                    "label": { "type": "string", "description": "What the server is called." },
                    "created": { "type": "string", "description": "When it was begun, RFC 3339." },
                    "changed": { "type": "string", "description": "When it was last written to, RFC 3339." },
                    "bytes": { "type": "integer" },
                    "sessions": { "type": ["integer", "null"], "description": "null if counting them would take long; see `inspect_recording`." },
                    "is_written": { "type": "boolean", "description": "A recorder still writes it." },
                    "redacted": { "type": "boolean", "description": "False if it was recorded with its secrets; its messages are not shown then." },
                    "problem": { "type": "string", "description": "Why it cannot be read." },
                    "uri": { "type": "string", "description": "Its resource." }
                }
            } },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    )
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let question = Question::of(SPEC.name);
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let found = sources.recordings.found()?;
    let limit = asked::rows(asked.limit.or(Some(LISTED)));
    let (mut page, mut budget) = (Page::new(after, limit), ALL_BYTES);
    for one in &found {
        page.offer_if(place(one), || row(one, &mut budget));
    }
    let rows = page.finish();
    let folder = sources.recordings.shown();
    let text = report::mcp::recordings(&folder, found.len(), &rows.lines);
    let told = json!({ "folder": folder, "count": found.len(), "recordings": rows.values });
    Ok(Answer::new(told, text).going_on(&question, rows.next))
}

/// The newest first: whatever is written to after this answer moves in front of those to come.
fn place(found: &Found) -> RowPosition {
    let since = found.changed.duration_since(SystemTime::UNIX_EPOCH);
    let micros = since.unwrap_or_default().as_micros();
    let micros = u64::try_from(micros).unwrap_or(u64::MAX);
    RowPosition(u64::MAX - micros, mark(&found.name))
}

/// The row of a recording; `None` for any other file.
fn row(found: &Found, budget: &mut u64) -> Option<Row> {
    if !folder::is_recording(&found.path) {
        return None;
    }
    let is_written = found.is_written();
    let mut value = json!({
        "name": found.name,
        "kind": null,
        "label": "",
        "created": "",
        "changed": found.changed_at(),
        "bytes": found.bytes,
        "sessions": null,
        "is_written": is_written,
        "uri": resources::uri(&found.name),
    });
    let recording = match Recording::open(&found.path) {
        Ok(recording) => recording,
        Err(why) => {
            set(&mut value, "problem", json!(format!("{why:#}")));
            let line = report::mcp::recording(found.bytes, &value);
            return Some(Row { value, line });
        }
    };
    let header = recording.header();
    set(&mut value, "kind", json!(recording.kind().name()));
    set(&mut value, "label", json!(header.label));
    set(&mut value, "created", json!(header.created));
    // A capture has no place for a mark: it is shown if it has no secret.
    if recording.kind() != FileKind::Capture {
        set(&mut value, "redacted", json!(header.redacted));
    }
    if found.bytes <= READ_BYTES && found.bytes <= *budget {
        *budget -= found.bytes;
        set(&mut value, "sessions", json!(sessions(recording)));
    }
    let line = report::mcp::recording(found.bytes, &value);
    Some(Row { value, line })
}

fn set(value: &mut Value, name: &str, member: Value) {
    if let Some(members) = value.as_object_mut() {
        members.insert(name.to_owned(), member);
    }
}

/// How many sessions messages belong to; nothing where a recording cannot be read to its end.
fn sessions(recording: Recording) -> Option<usize> {
    let mut sessions = BTreeSet::new();
    let read = recording.events(|event| {
        if matches!(event.body, EventBody::Message { .. }) {
            sessions.insert(event.session.0);
        }
        Ok(())
    });
    read.is_ok().then_some(sessions.len())
}
