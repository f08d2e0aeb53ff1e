//! `judge_recording`: which rules of the protocol a session breaks, and where.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_compliance::finding::Status;
use tapewright_compliance::{Outcome, Selection, table};

use super::Spec;
use crate::command::compliance::{Question as Judging, Server, Verdicts, judge};
use crate::command::mcp::answer::{Answer, cut, shortened};
use crate::command::mcp::cursor::{Question, RowPosition};
use crate::command::mcp::page::{Page, Row};
use crate::command::mcp::{Sources, asked};
use crate::report;
use crate::report::compliance::json::finding;

pub(super) const SPEC: Spec = Spec {
    name: "judge_recording",
    title: "Judge a recording",
    about: "Which invariants of MCP the sessions of a recording break, and which sessions are \
        clean: for each finding the rule, who is at fault, what is wrong, and the messages that \
        prove it. `explain_code` explains a rule; `show_exchange` shows the evidence.",
    input,
    output,
    is_live: false,
    call,
};

/// How many sessions are told about one by one.
const SESSIONS: usize = 50;
/// How many notes are told, and how long each may be, in bytes.
const NOTES: usize = 10;
const NOTE: usize = 500;
/// How long the name of a server may be, in bytes.
const LABEL: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    recording: String,
    #[serde(default = "yes")]
    all: bool,
    limit: Option<usize>,
    cursor: Option<String>,
}

fn yes() -> bool {
    true
}

fn input() -> Value {
    let members = json!({
        "recording": asked::recording(),
        "all": { "type": "boolean", "default": true, "description": "Judge by every invariant; without it by the seven of the documented input format." },
        "limit": asked::limit(),
        "cursor": asked::cursor(),
    });
    asked::object(&members, &["recording"])
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["recording", "sessions", "judged", "counts", "findings", "notes", "next_cursor"],
        "properties": {
            "recording": { "type": "string" },
            "sessions": { "type": "integer", "description": "How many were judged." },
            "judged": { "type": "array", "description": "Each of them, up to 50.", "items": {
                "type": "object",
                "required": ["session", "label", "verdict", "counts"],
                "properties": {
                    "session": { "type": "integer" },
                    "label": { "type": "string", "description": "What its server is called." },
                    "verdict": { "enum": ["broken", "race", "clean", "unknown"], "description": "clean: no invariant is broken, and some were tested; unknown: none was. What `inconclusive` counts, the recording does not show." },
                    "counts": { "type": "object", "description": "How many invariants have which verdict.", "additionalProperties": { "type": "integer" } }
                }
            } },
            "counts": {
                "type": "object",
                "description": "How many invariants have which verdict, over all sessions.",
                "required": ["fail", "race", "inconclusive", "pass", "vacuous"],
                "additionalProperties": { "type": "integer" }
            },
            "findings": { "type": "array", "items": {
                "type": "object",
                "required": ["code", "property", "session", "status", "side", "severity", "detail", "evidence"],
                "properties": {
                    "code": { "type": "string", "description": "What `explain_code` takes." },
                    "property": { "type": "string", "description": "What must hold." },
                    "session": { "type": "integer" },
                    "status": { "enum": ["fail", "race"], "description": "race: it would be broken, had the sender known." },
                    "side": { "type": "string", "description": "Who is at fault." },
                    "severity": { "type": "string" },
                    "at_us": { "type": "integer" },
                    "detail": { "type": "string" },
                    "evidence": { "type": "array", "items": {
                        "type": "object",
                        "required": ["seq", "pointer"],
                        "properties": {
                            "seq": { "type": "integer", "description": "Place of the message; `show_exchange` takes it." },
                            "pointer": { "type": "string", "description": "JSON pointer within it." }
                        }
                    } }
                }
            } },
            "notes": { "type": "array", "items": { "type": "string" }, "description": "What of the recording is missing." },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    )
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let (found, recording) = sources.recordings.read(&asked.recording)?;
    let question = Question::of(SPEC.name)
        .about(&found.name)
        .about(&recording.header().created)
        .about(&asked.all);
    drop(recording);
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let selection = if asked.all {
        Selection::all()
    } else {
        Selection::documented()
    };
    let verdicts = judge(&Judging {
        path: &found.path,
        selection,
        shared_transport: false,
    })?;
    let mut page = Page::new(after, asked::rows(asked.limit));
    rows(&verdicts, &mut page);
    let rows = page.finish();
    let (path, name) = (found.path.display().to_string(), found.name.as_str());
    let notes = verdicts.notes.iter().take(NOTES);
    let notes: Vec<String> = notes
        .map(|note| cut(&note.replace(&report::safe(&path), name), NOTE))
        .collect();
    let text = report::mcp::findings(name, &verdicts, &rows.lines, &notes);
    let told = json!({
        "recording": name,
        "sessions": verdicts.servers.len(),
        "judged": verdicts.servers.iter().take(SESSIONS).map(judged).collect::<Vec<_>>(),
        "counts": counts(|status| verdicts.count(status)),
        "findings": rows.values,
        "notes": notes,
    });
    Ok(Answer::new(told, text).going_on(&question, rows.next))
}

/// What the verdicts say about one session.
fn judged(server: &Server) -> Value {
    json!({
        "session": server.session.0,
        "label": cut(&server.label, LABEL),
        "verdict": server.verdict().name(),
        "counts": counts(|status| server.count(status)),
    })
}

fn counts(count: impl Fn(Status) -> usize) -> Value {
    let all = [
        Status::Fail,
        Status::Race,
        Status::Inconclusive,
        Status::Pass,
        Status::Vacuous,
    ];
    let count = |status: Status| (status.name().to_owned(), json!(count(status)));
    Value::Object(all.map(count).into_iter().collect())
}

/// The findings in the order of their sessions, their invariants, and the recording.
fn rows(verdicts: &Verdicts, page: &mut Page) {
    for (session, server) in (0_u64..).zip(&verdicts.servers) {
        for (rule, outcome) in (0_u64..).zip(&server.outcomes) {
            for (index, _) in outcome.findings.iter().enumerate() {
                let place = RowPosition((session << SESSION_BITS) | rule, index as u64);
                page.offer_if(place, || row(server, outcome, index));
            }
        }
    }
}

/// The bits of a key that hold the number of an invariant, below the number of a session.
const SESSION_BITS: u32 = 20;

fn row(server: &Server, outcome: &Outcome, index: usize) -> Option<Row> {
    let found = outcome.findings.get(index)?;
    let mut value = finding(server, found, None);
    let property = table::find(outcome.code).map_or("", |rule| rule.property);
    if let Some(members) = value.as_object_mut() {
        members.insert("code".to_owned(), json!(outcome.code.to_string()));
        members.insert("property".to_owned(), json!(property));
        members.insert("session".to_owned(), json!(server.session.0));
    }
    shortened(&mut value);
    let line = report::mcp::finding(server, found);
    Some(Row { value, line })
}
