//! `write_suite_step`: a test of an exchange, as suites have it.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Spec;
use crate::command::init::recorded;
use crate::command::mcp::answer::Answer;
use crate::command::mcp::one::{ExchangeSelector, ShownExchange};
use crate::command::mcp::{Sources, asked};
use crate::report::{Mistake, safe};
use crate::suite::write::call::Calls;
use crate::suite::write::server::Server;
use crate::suite::write::{Draft, ServerDraft};

pub(super) const SPEC: Spec = Spec {
    name: "write_suite_step",
    title: "Write a test of an exchange",
    about: "A test of a recorded exchange in YAML, as `tapewright run` executes it: the call, and \
        what its answer has to hold. It tells the step alone, to be put into a suite, and a whole \
        suite of it. Only calls of tools, reads of resources and prompts that were answered can \
        be repeated. Nothing is written to a disk.",
    input,
    output,
    is_live: false,
    call,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    recording: String,
    seq: Option<u64>,
    id: Option<String>,
    session: Option<u32>,
}

fn input() -> Value {
    ExchangeSelector::schema("Place of its request or its answer.", json!({}))
}

fn output() -> Value {
    asked::written(
        r#"{
        "type": "object",
        "required": ["recording", "block", "step", "suite"],
        "properties": {
            "recording": { "type": "string" },
            "block": { "enum": ["tools", "resources", "prompts"], "description": "The block of a suite that the step belongs to." },
            "step": { "type": "string", "description": "The test, in YAML." },
            "suite": { "type": "string", "description": "A suite of this test alone, with its server." }
        }
    }"#,
    )
}

fn call(sources: &Sources, arguments: Map<String, Value>) -> anyhow::Result<Answer> {
    let asked: Arguments = asked::read(arguments)?;
    let which = ExchangeSelector::of(asked.seq, asked.id, asked.session)?;
    let shown = ShownExchange::find(sources, &asked.recording, &which)?;
    let mut calls = Calls::default();
    shown.events(sources, |event| calls.observe(event, None))?;
    calls.finish();
    let row = &shown.row;
    let name = row.tool.as_ref().or(row.resource.as_ref());
    let name = name.or(row.prompt.as_ref());
    // A batch may have brought others with it.
    calls.all.retain(|one| Some(&one.name) == name);
    calls.all.truncate(1);
    let Some(block) = calls.all.first().map(|one| one.asks.block()) else {
        let what = format!("`{}` of this exchange cannot be a test", safe(&row.method));
        let hint = "choose a call of a tool, a read of a resource or a prompt that was answered: `find_exchanges` with `status:ok`";
        return Err(Mistake::new(what, hint).into());
    };
    let (found, recording) = sources.recordings.read(&asked.recording)?;
    let name = safe(&found.name);
    let draft = Draft {
        about: recorded::about(
            &format!("Written from one exchange of the recording {name}."),
            None,
            Some(&name),
        ),
        servers: vec![ServerDraft {
            server: Server::of(
                &recording.header(),
                &Path::new("./").join(&found.name).to_string_lossy(),
            ),
            calls: calls.all,
            stubs: Vec::new(),
        }],
    };
    let (step, suite) = (draft.steps(), draft.write());
    let text = format!("A test for the block `{block}`:\n\n{step}");
    let told = json!({
        "recording": found.name, "block": block, "step": step, "suite": suite,
    });
    Ok(Answer::new(told, text))
}
