//! `show_exchange`: one whole exchange with its messages.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_schemas::redact::Redactor;

use super::{Spec, find};
use crate::command::mcp::answer::{Answer, Piece, piece};
use crate::command::mcp::cursor::{Question, RowPosition};
use crate::command::mcp::one::{ExchangeSelector, ShownExchange};
use crate::command::mcp::{Sources, asked};
use crate::report;

pub(super) const SPEC: Spec = Spec {
    name: "show_exchange",
    title: "Show an exchange",
    about: "One exchange whole: what was asked and answered as it stands on the recording, \
        where secrets are placeholders, and the notifications about it. Name it by the place of \
        one of its messages (`seq`: request_seq, answer_seq, or the evidence of a finding), or by \
        its id. What is long comes in pieces, one cursor after the other.",
    input,
    output,
    is_live: false,
    call,
};

/// How much is said of request and answer, in bytes.
const PIECE: usize = 12 << 10;
const MOST: usize = 32 << 10;
/// The minimum number of bytes left for an answer next to a long request.
const LEAST: usize = 1 << 10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    recording: String,
    seq: Option<u64>,
    id: Option<String>,
    session: Option<u32>,
    max_bytes: Option<usize>,
    cursor: Option<String>,
}

fn input() -> Value {
    let members = json!({
        "max_bytes": { "type": "integer", "minimum": 1, "maximum": MOST, "default": PIECE, "description": "Maximum size of the answer." },
        "cursor": asked::cursor(),
    });
    ExchangeSelector::schema(
        "Place of its request, its answer, or a notification about it.",
        members,
    )
}

fn output() -> Value {
    let piece = asked::written(
        r#"{
        "type": ["object", "null"],
        "required": ["text", "offset", "bytes", "whole"],
        "properties": {
            "text": { "type": "string", "description": "JSON as recorded, or the part of it from `offset` on." },
            "offset": { "type": "integer" },
            "bytes": { "type": "integer", "description": "How long all of it is." },
            "whole": { "type": "boolean" }
        }
    }"#,
    );
    let mut schema = asked::written(
        r#"{
        "type": "object",
        "required": ["recording", "exchange", "request", "answer", "notifications", "next_cursor"],
        "properties": {
            "recording": { "type": "string" },
            "exchange": null,
            "request": null,
            "answer": null,
            "notifications": { "type": "array", "items": {
                "type": "object",
                "required": ["seq", "at_ms", "from", "text"],
                "properties": {
                    "seq": { "type": "integer" },
                    "at_ms": { "type": ["number", "null"] },
                    "from": { "enum": ["client", "server"] },
                    "text": { "type": "string" }
                }
            } },
            "others": { "type": "array", "items": { "type": "integer" }, "description": "Places of further exchanges with this id." },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    );
    for (member, of) in [
        ("exchange", find::row()),
        ("request", piece.clone()),
        ("answer", piece),
    ] {
        asked::fill(&mut schema, member, of);
    }
    schema
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let which = ExchangeSelector::of(asked.seq, asked.id, asked.session)?;
    let shown = ShownExchange::find(sources, &asked.recording, &which)?;
    let question = Question::of(SPEC.name)
        .about(&shown.found.name)
        .about(&shown.created)
        .about(&which);
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let most = asked.max_bytes.unwrap_or(PIECE).clamp(1, MOST);
    answer(&shown, sources, &question, after.unwrap_or_default(), most)
}

/// An exchange by the place of one of its messages, from its beginning.
pub(in crate::command::mcp) fn of(
    sources: &Sources,
    name: &str,
    seq: u64,
) -> anyhow::Result<Answer> {
    let shown = ShownExchange::find(sources, name, &ExchangeSelector::Seq(seq))?;
    let question = Question::of("resource");
    answer(&shown, sources, &question, RowPosition::default(), MOST)
}

fn answer(
    shown: &ShownExchange,
    sources: &Sources,
    question: &Question,
    RowPosition(asked, answered): RowPosition,
    most: usize,
) -> anyhow::Result<Answer> {
    let said = shown.said(sources)?;
    let mut redactor = Redactor::new(Arc::clone(&sources.rules));
    let mut room = most;
    let mut tell = |message: &Option<Vec<u8>>, offset: u64| {
        let message = message.as_ref()?;
        let clean = match redactor.json(message) {
            Ok(clean) => clean,
            Err(_) => redactor.text(message),
        };
        let piece = piece(&clean, usize::try_from(offset).unwrap_or(usize::MAX), room);
        room = room.saturating_sub(piece.text.len()).max(LEAST);
        Some(piece)
    };
    let request = tell(&said.request, asked);
    let reply = tell(&said.answer, answered);
    let line = report::show::exchange(&shown.row);
    let text = report::mcp::exchange(&line, [&request, &reply], &said.notes);
    let told = json!({
        "recording": shown.found.name,
        "exchange": shown.row,
        "request": request.as_ref().map(Piece::value),
        "answer": reply.as_ref().map(Piece::value),
        "notifications": said.notes,
        "others": shown.others,
    });
    // What was told to its end is told no further.
    let next = |piece: Option<Piece>| piece.and_then(|piece| piece.next).map(|at| at as u64);
    let next = match (next(request), next(reply)) {
        (None, None) => None,
        (asked, answered) => Some(RowPosition(
            asked.unwrap_or(u64::MAX),
            answered.unwrap_or(u64::MAX),
        )),
    };
    Ok(Answer::new(told, text).going_on(question, next))
}
