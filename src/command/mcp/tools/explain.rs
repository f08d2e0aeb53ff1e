//! `explain_code`: what a code means.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Spec;
use crate::command::explain;
use crate::command::mcp::answer::Answer;
use crate::command::mcp::cursor::{Question, RowPosition};
use crate::command::mcp::page::{Page, Row};
use crate::command::mcp::{Sources, asked};
use crate::report;

pub(super) const SPEC: Spec = Spec {
    name: "explain_code",
    title: "Explain a code",
    about: "What a code means: an invariant (INV-012), a compliance rule (PROTO-002), a fault \
        (fault:hang): what is asked for, why, where it is written, a session that holds it and \
        one that breaks it; or an error code of an answer (-32020) or of a suite (unknown-key): what \
        it means. Without a code, every code with one line about it.",
    input,
    output,
    is_live: false,
    call,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

fn input() -> Value {
    let members = json!({
        "code": { "type": "string", "description": "The code, in any case.", "examples": ["INV-012"] },
        "limit": asked::limit(),
        "cursor": asked::cursor(),
    });
    asked::object(&members, &[])
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["codes", "next_cursor"],
        "properties": {
            "page": { "type": "string", "description": "What the code means." },
            "codes": { "type": "array", "items": {
                "type": "object",
                "required": ["code", "about"],
                "properties": { "code": { "type": "string" }, "about": { "type": "string" } }
            } },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    )
}

fn call(_: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let question = Question::of(SPEC.name);
    if let Some(code) = &asked.code {
        let page = explain::page(code)?;
        let answer = Answer::new(json!({}), page.clone());
        let answer = answer.with("page", page).with("codes", json!([]));
        return Ok(answer.going_on(&question, None));
    }
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let mut page = Page::new(after, asked::rows(asked.limit));
    for (place, (code, about)) in (0..).zip(explain::codes()) {
        page.offer(RowPosition(place, 0), || Row {
            line: format!("{code}  {about}"),
            value: json!({ "code": code, "about": about }),
        });
    }
    let rows = page.finish();
    let text = report::mcp::listed(&rows.lines);
    let answer = Answer::new(json!({}), text).with("codes", rows.values);
    Ok(answer.going_on(&question, rows.next))
}
