//! `find_exchanges`: the lines of a conversation that a filter finds.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_models::prices::Prices;
use tapewright_schemas::filter::{Filter, WORDS};
use tapewright_schemas::listing::{Entry, Wanted};
use tapewright_schemas::published;
use tapewright_schemas::tape::Ending;

use super::Spec;
use crate::command::mcp::answer::{Answer, shortened};
use crate::command::mcp::cursor::{Question, RowPosition, mark};
use crate::command::mcp::page::{Page, Row};
use crate::command::mcp::{Sources, asked};
use crate::command::show;
use crate::files::Frame;
use crate::report::show::{Closing, Part};
use crate::report::{self, Mistake, safe};

pub(super) const SPEC: Spec = Spec {
    name: "find_exchanges",
    title: "Find exchanges",
    about: "The exchanges of a recording in order, each a request with what became of it, \
        narrowed down by filter words which all must hold: tool:NAME, method:PART, \
        status:error (ok, error, cancelled, late, pending, gone, unknown, fault, finding, or a \
        number), dir:to_client, session:2, id:7, slow:>200ms, model:NAME, kind:stderr (exchange, \
        model, notification, progress, cancellation, late, orphan, noise, stderr, http, fault, finding, \
        gap), or any text, also in what was said. - in front of a word turns it round; several \
        values of one word stand with commas.",
    input,
    output,
    is_live: false,
    call,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    recording: String,
    #[serde(default)]
    filter: Vec<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

fn input() -> Value {
    let members = json!({
        "recording": asked::recording(),
        "filter": {
            "type": "array", "items": { "type": "string" }, "default": [],
            "description": "Filter words, one each. Without any, every exchange.",
            "examples": [["tool:read", "status:error"], ["kind:stderr"], ["slow:>1s"]],
        },
        "limit": asked::limit(),
        "cursor": asked::cursor(),
    });
    asked::object(&members, &["recording"])
}

fn output() -> Value {
    let lines = json!({
        "type": "array",
        "description": "Exchanges, and with `kind:` other lines, which have a member `kind`.",
        "items": { "anyOf": [row(), published("model-call"), beside()] },
    });
    let mut schema = asked::written(
        r#"{
        "type": "object",
        "required": ["recording", "exchanges_in_all", "found", "lines", "is_written", "summary", "next_cursor"],
        "properties": {
            "recording": { "type": "string" },
            "exchanges_in_all": { "type": "integer" },
            "found": { "type": "integer", "description": "How many lines the filter finds." },
            "lines": null,
            "is_written": { "type": "boolean", "description": "A recorder still writes it: there may be more soon." },
            "summary": { "type": "string", "description": "Totals, and what is missing." },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    );
    asked::fill(&mut schema, "lines", lines);
    schema
}

/// The schema of an exchange, as it is published.
pub(super) fn row() -> Value {
    published("exchange")
}

/// A schema that is published, to stand within another one.
fn published(name: &str) -> Value {
    let text = published::find(name);
    let text = text.map_or("{}", |one| one.text());
    let mut schema: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(members) = schema.as_object_mut() {
        // It is nested in another schema, so references are replaced by their definitions.
        let defined = members.remove("$defs").unwrap_or_default();
        members.remove("$schema");
        let properties = members.get_mut("properties");
        if let Some(properties) = properties.and_then(Value::as_object_mut) {
            properties
                .values_mut()
                .for_each(|one| resolve(one, &defined));
        }
    }
    schema
}

/// Puts a definition in the place of a reference to it.
fn resolve(schema: &mut Value, defined: &Value) {
    let Some(members) = schema.as_object_mut() else {
        return;
    };
    let Some(Value::String(reference)) = members.remove("$ref") else {
        return;
    };
    let name = reference.rsplit('/').next().unwrap_or_default();
    if let Some(Value::Object(definition)) = defined.get(name) {
        members.extend(definition.clone());
    }
}

fn beside() -> Value {
    json!({
        "type": "object",
        "required": ["kind", "seq", "session", "from"],
        "properties": {
            "kind": { "type": "string" },
            "seq": { "type": "integer", "description": "Its place on the tape." },
            "session": { "type": "integer" },
            "from": { "enum": ["client", "server"] },
            "at_ms": { "type": ["number", "null"] },
            "text": { "type": "string" },
        },
    })
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let filter = filter(&asked.filter)?;
    let (found, recording) = sources.recordings.read(&asked.recording)?;
    let (kind, timed, header) = (recording.kind(), recording.timed(), recording.header());
    let question = Question::of(SPEC.name)
        .about(&found.name)
        .about(&header.created)
        .about(&asked.filter);
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let mut page = Page::new(after, asked::rows(asked.limit));
    let wanted = Wanted {
        kinds: BTreeSet::from(Wanted::PLAIN),
        bodies: filter.asks_for_texts(),
        timed: true,
        filter,
    };
    let (Frame { ending, .. }, counts) =
        show::list(recording, &wanted, &Prices::built_in(), |entry| {
            page.offer(place(entry), || line(entry));
            Ok(())
        })?;
    let is_written = matches!(ending, Ending::CutShort { .. }) && found.is_written();
    let part = Part {
        name: None,
        kind,
        timed,
        ending: &ending,
        last: counts.last,
        written_by: is_written.then_some(header.pid),
    };
    let closing = Closing {
        counts,
        parts: vec![part],
        filtered: !wanted.filter.is_empty(),
        wants_times: wanted.filter.asks_for_times(),
    };
    let rows = page.finish();
    let summary = closing.text();
    let text = report::mcp::lines(&found.name, &rows.lines, &summary);
    let told = json!({
        "recording": found.name,
        "exchanges_in_all": counts.exchanges,
        "found": counts.shown + counts.models_shown + counts.beside,
        "lines": rows.values,
        "is_written": is_written,
        "summary": summary,
    });
    Ok(Answer::new(told, text).going_on(&question, rows.next))
}

/// Filter words, read.
fn filter(words: &[String]) -> Result<Filter, Mistake> {
    Filter::new(words).map_err(|error| {
        let words = WORDS.map(|(name, takes)| format!("`{name}:` takes {takes}"));
        Mistake::new(safe(&error.to_string()), words.join("; "))
    })
}

/// Where a line stands: at its first event.
fn place(entry: &Entry) -> RowPosition {
    match entry {
        Entry::Exchange { row, .. } => RowPosition(row.request_seq, mark(&("", &row.id, row.from))),
        Entry::Model { row, .. } => RowPosition(row.request_seq, mark(&("model", &row.id, ""))),
        Entry::Beside(note) => RowPosition(note.seq, mark(&(note.kind.name(), &note.id, ""))),
    }
}

fn line(entry: &Entry) -> Row {
    let value = match entry {
        Entry::Exchange { row, .. } => serde_json::to_value(row),
        Entry::Model { row, .. } => serde_json::to_value(row),
        Entry::Beside(note) => serde_json::to_value(note.beside()),
    };
    // They are structs of strings and numbers.
    let mut value = value.unwrap_or_default();
    shortened(&mut value);
    Row {
        value,
        line: report::show::plain(entry),
    }
}
