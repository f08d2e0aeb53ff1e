//! `live_recorders`: what recorders that run have in hand.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Spec;
use crate::command::mcp::answer::{Answer, bounded};
use crate::command::mcp::{Sources, asked};
use crate::command::sessions;
use crate::report::{self, live, safe};

pub(super) const SPEC: Spec = Spec {
    name: "live_recorders",
    title: "Look at recorders that run",
    about: "What the recorders that run have in hand right now: sessions, requests that wait for \
        their answers and for how long, hangs with the fault that causes them, findings. What \
        messages say is told by their tapes: see `list_recordings` and `find_exchanges`.",
    input,
    output,
    is_live: true,
    call,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    session: Option<u32>,
}

fn input() -> Value {
    let session = json!({ "type": "integer", "minimum": 0, "description": "Only this session." });
    asked::object(&json!({ "session": session }), &[])
}

fn output() -> Value {
    let list = json!({ "type": "array", "items": { "type": "object" } });
    json!({
        "type": "object",
        "required": ["recorders"],
        "properties": { "recorders": { "type": "array", "items": {
            "type": "object",
            "required": ["control"],
            "properties": {
                "control": { "type": "string", "description": "Where its control is." },
                "sessions": list, "pending": list, "hangs": list, "findings": list,
                "left_out": { "type": "object", "additionalProperties": { "type": "integer" } },
                "problem": { "type": "string", "description": "Why it cannot be asked: it may have ended." },
            },
        } } },
    })
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let (mut all, mut text) = (Vec::new(), String::new());
    for (control, remote) in &sources.recorders {
        let shown = safe(control);
        let mut told = match sessions::lists(remote, asked.session) {
            Ok(lists) => {
                text.push_str(&report::mcp::recorder(&shown, &live::sessions(&lists)));
                lists
            }
            Err(why) => {
                let why = safe(&format!("{why:#}"));
                text.push_str(&report::mcp::recorder(&shown, &why));
                json!({ "problem": why })
            }
        };
        let left_out = bounded(&mut told);
        if let Some(members) = told.as_object_mut() {
            members.insert("control".to_owned(), json!(control));
            members.insert("left_out".to_owned(), left_out);
        }
        all.push(told);
    }
    Ok(Answer::new(json!({ "recorders": all }), text))
}
