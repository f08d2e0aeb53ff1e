//! Links in the form of a conversation's rows.

use std::collections::HashMap;

use tapewright_schemas::conversation::{AskedBy, CarriedOut, ToolUseRow, shown};
use tapewright_schemas::listing::AskedFor;

use super::{LinkedToolUse, Links, ToolUseOutcome};

/// The links of one tape.
#[derive(Clone, Debug, Default)]
pub struct PartLinks {
    /// The tool uses of models, by model call.
    pub(crate) uses: HashMap<u64, Vec<ToolUseRow>>,
    /// The tool use that each `tools/call` carried out.
    pub(crate) asked: AskedFor,
}

impl Links {
    /// The links of each tape; `files` are the names of the tapes in the order in which they were
    /// read. If not all tapes of a recording were read, only found links are reported.
    #[must_use]
    pub fn by_parts(self, files: &[String], has_all: bool) -> Vec<PartLinks> {
        let name = |part: usize| files.get(part).cloned().unwrap_or_default();
        let mut parts = vec![PartLinks::default(); files.len()];
        for one in self.asked {
            if let ToolUseOutcome::Called { by, how } = &one.fate
                && let Some(part) = parts.get_mut(by.part)
            {
                let asked_by = AskedBy {
                    file: name(one.part),
                    model_call: one.call_seq,
                    id: one.id.clone(),
                    how: how.name(),
                    guess: how.is_guess(),
                };
                let here = part.asked.entry(by.seq).or_default();
                here.push((shown(&by.tool), asked_by));
            }
            if let Some(part) = parts.get_mut(one.part) {
                let uses = part.uses.entry(one.call_seq).or_default();
                uses.push(used(one, name, has_all));
            }
        }
        parts
    }
}

fn used(one: LinkedToolUse, name: impl Fn(usize) -> String, has_all: bool) -> ToolUseRow {
    let mut row = ToolUseRow {
        id: one.id,
        name: one.name,
        ..ToolUseRow::default()
    };
    match one.fate {
        ToolUseOutcome::Called { by, how } => {
            row.fate = Some("called");
            (row.how, row.guess) = (Some(how.name()), how.is_guess());
            row.by = Some(CarriedOut {
                file: name(by.part),
                seq: by.seq,
                server: by.server,
                tool: by.tool,
            });
        }
        ToolUseOutcome::Elsewhere => row.fate = has_all.then_some("elsewhere"),
        ToolUseOutcome::Never => row.fate = has_all.then_some("never"),
    }
    row
}
