//! `diff_recordings`: what differs between two.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tapewright_replay::Ignore;
use tapewright_replay::diff::{self, Change, Compared, DiffOptions, Found};

use super::Spec;
use crate::command::mcp::answer::{Answer, shortened};
use crate::command::mcp::cursor::{Question, RowPosition};
use crate::command::mcp::page::{Page, Row};
use crate::command::mcp::{Sources, asked};
use crate::command::replay::load;
use crate::report::diff::{Differences, Differing, IncompleteReason, Of};
use crate::report::{self, Mistake, safe};

pub(super) const SPEC: Spec = Spec {
    name: "diff_recordings",
    title: "Compare two recordings",
    about: "What differs between two recordings, exchange by exchange: changed (by JSON path, \
        tools and prompts by their names), new, gone; and where answers became slower or faster \
        by more than noise. Ids, times and the like, which are new in every session, do not \
        count unless `exact` is given.",
    input,
    output,
    is_live: false,
    call,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    before: String,
    after: String,
    #[serde(default)]
    exact: bool,
    #[serde(default)]
    ignore: Vec<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

fn input() -> Value {
    let members = json!({
        "before": asked::recording(),
        "after": asked::recording(),
        "exact": { "type": "boolean", "default": false, "description": "Count UUIDs, times and the like, and the order of tools, too." },
        "ignore": {
            "type": "array", "items": { "type": "string" }, "default": [],
            "description": "Places that do not count, as JSON pointers such as /result/serverInfo/version; * is any name or number.",
        },
        "limit": asked::limit(),
        "cursor": asked::cursor(),
    });
    asked::object(&members, &["before", "after"])
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["before", "after", "changed", "new", "gone", "same", "exchanges", "latency", "notes", "next_cursor"],
        "properties": {
            "before": { "type": "string" },
            "after": { "type": "string" },
            "changed": { "type": "integer" },
            "new": { "type": "integer" },
            "gone": { "type": "integer" },
            "same": { "type": "integer" },
            "exchanges": {
                "type": "array",
                "description": "Those that are not the same.",
                "items": {
                    "type": "object",
                    "required": ["before", "after", "method", "change"],
                    "properties": {
                        "before": { "type": ["string", "null"], "description": "Its place in the earlier recording." },
                        "after": { "type": ["string", "null"] },
                        "method": { "type": "string" },
                        "target": { "type": "string", "description": "Which tool, prompt or resource." },
                        "change": { "enum": ["changed", "new", "gone"] },
                        "differences": { "type": "array", "items": {
                            "type": "object",
                            "required": ["path"],
                            "properties": {
                                "path": { "type": "string", "description": "JSON path of the place." },
                                "recorded": { "type": "string", "description": "The earlier value, around the first difference." },
                                "live": { "type": "string", "description": "The later value." }
                            }
                        } },
                        "listed": { "type": "array", "items": { "type": "object" }, "description": "Tools, prompts and resources whose definitions changed." }
                    }
                }
            },
            "latency": { "type": "array", "items": { "type": "object" }, "description": "Medians that moved, in milliseconds." },
            "notes": { "type": "array", "items": { "type": "string" }, "description": "What is missing on either side." },
            "next_cursor": { "type": ["string", "null"] }
        }
    }"#,
    )
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let mut question = Question::of(SPEC.name)
        .about(&asked.exact)
        .about(&asked.ignore);
    let mut scripts = Vec::new();
    for name in [&asked.before, &asked.after] {
        let (found, recording) = sources.recordings.read(name)?;
        question = question
            .about(&found.name)
            .about(&recording.header().created);
        drop(recording);
        scripts.push(Arc::new(load(&found.path)?));
    }
    let after = asked.cursor.as_deref();
    let after = after.map(|cursor| question.place(cursor)).transpose()?;
    let ignore = Ignore::new(&asked.ignore, &["result", "error", "params"]);
    let ignore = ignore.map_err(|error| {
        let hint = "write it like `/result/content/0/text`";
        Mistake::new(safe(&error.to_string()), hint)
    })?;
    let options = DiffOptions {
        exact: asked.exact,
        ignore,
        rules: Arc::clone(&sources.rules),
    };
    let [earlier, later] = scripts.as_slice() else {
        anyhow::bail!("a comparison has two sides");
    };
    let found = diff::diff(earlier, later, &options);
    let mut page = Page::new(after, asked::rows(asked.limit));
    for (place, one) in (0..).zip(&found.exchanges) {
        if one.change != Change::Same {
            page.offer(RowPosition(place, 0), || row(one));
        }
    }
    let rows = page.finish();
    let mut latency = json!(found.latency);
    shortened(&mut latency);
    let incomplete = [earlier, later].map(|script| IncompleteReason::of(script));
    let differing = differing(&asked, found, incomplete);
    let text = report::mcp::differences(&differing, &rows.lines);
    let told = json!({
        "before": asked.before,
        "after": asked.after,
        "changed": differing.count(Change::Changed),
        "new": differing.count(Change::New),
        "gone": differing.count(Change::Gone),
        "same": differing.count(Change::Same),
        "exchanges": rows.values,
        "latency": latency,
        "notes": differing.notes(),
    });
    Ok(Answer::new(told, text).going_on(&question, rows.next))
}

fn differing(
    asked: &Arguments,
    found: Found,
    incomplete: [Option<IncompleteReason>; 2],
) -> Differing<'_> {
    let of = Of::Server(String::new());
    Differing {
        before: asked.before.as_ref(),
        after: asked.after.as_ref(),
        parts: vec![Differences {
            of,
            found,
            incomplete,
        }],
        is_whole: false,
    }
}

fn row(one: &Compared) -> Row {
    // A struct of strings.
    let mut value = serde_json::to_value(one).unwrap_or_default();
    shortened(&mut value);
    Row {
        value,
        line: report::diff::lines(one),
    }
}
