//! One model call, as a line, with its tool uses below.

use std::fmt::Write as _;

use tapewright_schemas::conversation::{AskedBy, ModelRow, ToolUseRow};

use super::line::{Margin, RED, WHAT_CHARS, WIDTH, YELLOW, paint, short};
use crate::report::figures::duration;
use crate::report::inspect_models::{cost, tokens};
use crate::report::inspect_tools::{doubt, fate};
use crate::report::safe;

/// A model call.
pub(super) fn call(row: &ModelRow, margin: &Margin) -> String {
    let provider = row.provider.as_deref().unwrap_or(row.wire);
    let model = row.model.as_deref().unwrap_or("(model not named)");
    let what = format!("{} {}", safe(provider), safe(model));
    let what = short(&what, WHAT_CHARS);
    let took = row.waited_ms.map_or_else(|| "-".to_owned(), duration);
    let (ended, colour) = ended(row);
    let front = margin.front(row.at_ms, false);
    let mut line = format!(
        "{front}{what:<WIDTH$} {took:>9}  {}",
        paint(&ended, colour, margin.colour)
    );
    for figure in figures(row) {
        // Writing to a string does not fail.
        let _never_fails = write!(line, ", {figure}");
    }
    for used in &row.tool_uses {
        if let Some(fate) = used.fate {
            let _never_fails = write!(line, "\n{:>11}{}", "", link(used, fate));
        }
    }
    line
}

/// How a call ended, and its figures.
pub(crate) fn told(row: &ModelRow) -> String {
    let (ended, _) = ended(row);
    let all = std::iter::once(ended).chain(figures(row));
    all.collect::<Vec<_>>().join(", ")
}

/// How a call ended, with its colour.
fn ended(row: &ModelRow) -> (String, &'static str) {
    match (row.end, &row.error) {
        ("answered", _) => {
            let word = row.finish.unwrap_or("ok");
            let is_usual = matches!(word, "ok" | "stop" | "tool use");
            (word.to_owned(), if is_usual { "" } else { YELLOW })
        }
        ("cut_short", _) if row.waited_ms.is_none() => ("pending".to_owned(), YELLOW),
        (_, Some(error)) => (short(&safe(error), ERROR_CHARS), RED),
        _ => ("cut short".to_owned(), RED),
    }
}

fn figures(row: &ModelRow) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(tokens(
        row.input_tokens,
        row.output_tokens,
        row.cache_read_tokens,
    ));
    match row.cost_usd_microcents {
        Some(microcents) => all.push(cost(microcents)),
        None if row.end == "answered" => all.push("cost unknown".to_owned()),
        None => {}
    }
    let first = row.first_token_ms.filter(|_| row.stream);
    all.extend(first.map(|ms| format!("first token after {}", duration(ms))));
    if !row.tool_uses.is_empty() {
        let names: Vec<&str> = row.tool_uses.iter().map(|used| &*used.name).collect();
        let names = short(&safe(&names.join(", ")), WHAT_CHARS);
        all.push(format!("asks for {names}"));
    }
    all
}

fn link(used: &ToolUseRow, word: &str) -> String {
    let by = used.by.as_ref();
    let what = fate(
        by.map(|by| (&*by.tool, &*by.server, by.seq, &*by.file)),
        word,
    );
    format!("{}: {what}{}", safe(&used.name), doubt(used.how))
}

/// The model call that a `tools/call` was made for.
pub(super) fn asked_by(one: &AskedBy) -> String {
    let (seq, file) = (one.model_call, safe(&one.file));
    format!("asked in event {seq} of {file}{}", doubt(Some(one.how)))
}

const ERROR_CHARS: usize = 200;
