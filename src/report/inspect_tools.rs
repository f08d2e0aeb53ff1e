//! The tool uses in `inspect`, with the calls that carried them out.

use serde::Serialize;
use tapewright_models::links::{LinkedToolUse, Links, ToolCall, ToolUseOutcome};

use super::figures::plural;
use super::inspect::{Page, SHOWN};
use super::safe;

/// The tool uses of models, and the calls of tools.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Tools {
    #[serde(skip_serializing_if = "Vec::is_empty", rename = "tools_asked")]
    asked: Vec<ToolUseRow>,
    #[serde(skip_serializing_if = "Vec::is_empty", rename = "tools_unasked")]
    unasked: Vec<Done>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "tools_more")]
    more: Option<u64>,
}

/// One tool use of a model.
#[derive(Debug, Serialize)]
struct ToolUseRow {
    file: String,
    model_call: u64,
    id: Option<String>,
    name: String,
    fate: &'static str,
    how: Option<&'static str>,
    guess: bool,
    by: Option<Done>,
}

/// One `tools/call`.
#[derive(Debug, Serialize)]
struct Done {
    file: String,
    seq: u64,
    server: String,
    tool: String,
}

impl Tools {
    /// The links; `files` has the names of the tapes in the order in which they were read. Without
    /// model calls, calls of tools are not reported as unlinked.
    pub(crate) fn new(links: Links, files: &[String], has_models: bool) -> Self {
        if !has_models {
            return Self::default();
        }
        let asked = links.asked.into_iter();
        let unasked = links.unasked.into_iter();
        Self {
            asked: asked.map(|one| ToolUseRow::new(one, files)).collect(),
            unasked: unasked.map(|call| Done::new(call, files)).collect(),
            more: Some(links.passed_over).filter(|more| *more > 0),
        }
    }
}

impl ToolUseRow {
    fn new(one: LinkedToolUse, files: &[String]) -> Self {
        let (fate, how, by) = match one.fate {
            ToolUseOutcome::Called { by, how } => ("called", Some(how), Some(Done::new(by, files))),
            ToolUseOutcome::Elsewhere => ("elsewhere", None, None),
            ToolUseOutcome::Never => ("never", None, None),
        };
        Self {
            file: name_of(files, one.part),
            model_call: one.call_seq,
            id: one.id,
            name: one.name,
            fate,
            how: how.map(tapewright_models::links::How::name),
            guess: how.is_some_and(tapewright_models::links::How::is_guess),
            by,
        }
    }

    fn line(&self) -> String {
        let by = self.by.as_ref();
        let by = by.map(|by| (&*by.tool, &*by.server, by.seq, &*by.file));
        let what = fate(by, self.fate);
        format!("{}: {what}{}", safe(&self.name), doubt(self.how))
    }
}

impl Done {
    fn new(call: ToolCall, files: &[String]) -> Self {
        Self {
            file: name_of(files, call.part),
            seq: call.seq,
            server: call.server,
            tool: call.tool,
        }
    }

    fn place(&self) -> String {
        place(&self.tool, &self.server, self.seq, &self.file)
    }
}

fn place(tool: &str, server: &str, seq: u64, file: &str) -> String {
    let (tool, server, file) = (safe(tool), safe(server), safe(file));
    format!("{tool} of {server}, event {seq} of {file}")
}

/// The outcome of a tool use; `by` is the tool, the server, the event and the file of the request
/// that carried it out.
pub(super) fn fate(by: Option<(&str, &str, u64, &str)>, word: &str) -> String {
    match (by, word) {
        (Some((tool, server, seq, file)), _) => place(tool, server, seq, file),
        (None, "elsewhere") => "done by the agent, or by a server that was not recorded".into(),
        _ => "never done".to_owned(),
    }
}

/// Why a link is uncertain.
pub(super) fn doubt(how: Option<&str>) -> &'static str {
    match how {
        Some("order") => ", a guess: several fit and are taken in order",
        Some("name") => ", a guess: its arguments are others",
        _ => "",
    }
}

fn name_of(files: &[String], part: usize) -> String {
    files.get(part).cloned().unwrap_or_default()
}

/// The tool uses of models, and calls that no model asked for.
pub(super) fn tools(tools: &Tools, out: &mut Page) {
    let asked = tools.asked.len() as u64;
    if asked > 0 {
        out.line("");
        let times = plural(asked, "time");
        out.line(&format!("  tools that models asked for: {asked} {times}"));
        for one in tools.asked.iter().take(SHOWN) {
            out.line(&format!("    {}", one.line()));
        }
        out.rest(asked);
    }
    let unasked = tools.unasked.len() as u64;
    if unasked > 0 {
        out.line("");
        let calls = plural(unasked, "call");
        out.line(&format!(
            "  tools that no model asked for: {unasked} {calls}"
        ));
        for one in tools.unasked.iter().take(SHOWN) {
            out.line(&format!("    {}", one.place()));
        }
        out.rest(unasked);
    }
}

/// Like `tools`, as a separate text for a recording with several tapes.
pub(crate) fn text(id: &str, parts: usize, told: &Tools) -> String {
    let mut out = Page::default();
    let tapes = plural(parts as u64, "tape");
    out.line(&format!("recording {} on {parts} {tapes}", safe(id)));
    tools(told, &mut out);
    out.text
}
