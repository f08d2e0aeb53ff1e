//! Links as the rows of conversations tell them.

use std::collections::HashMap;

use tapewright_schemas::conversation::{AskedBy, CarriedOut, ToolUseRow, shown};
use tapewright_schemas::listing::AskedFor;

use super::{LinkedToolUse, Links, ToolUseOutcome};

/// What is linked on one tape.
#[derive(Clone, Debug, Default)]
pub struct PartLinks {
    /// The tools that models asked for, by the calls of the models.
    pub(crate) uses: HashMap<u64, Vec<ToolUseRow>>,
    /// Which tool use each `tools/call` carried out.
    pub(crate) asked: AskedFor,
}

impl Links {
    /// What is linked on each tape; `files` are their names in the order in which they were
    /// taken. Where other tapes of a recording were not looked at, only what is found is told.
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
