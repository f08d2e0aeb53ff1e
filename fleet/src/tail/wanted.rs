//! Selects announcements.

use crate::announce::Announcement;
use crate::names::Gateway;
use crate::summary::{Notable, is_hang};

/// The word for every outcome that is a hang.
const HANG: &str = "hang";

/// The selection; everything by default.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only this gateway.
    pub gateway: Option<Gateway>,
    /// Only with calls of this tool.
    pub tool: Option<String>,
    /// Only with exchanges of this outcome; `hang` for all hangs.
    pub outcome: Option<String>,
}

impl Wanted {
    /// Whether an announcement matches. If it has too many tools to list, it may have the tool, and
    /// matches.
    #[must_use]
    pub fn is(&self, one: &Announcement) -> bool {
        let is_gateway = self
            .gateway
            .as_ref()
            .is_none_or(|name| *name == one.gateway);
        let rows = &one.rows;
        let has = match (&self.tool, &self.outcome) {
            (None, None) => true,
            (None, Some(wanted)) => {
                let mut outcomes = rows.outcomes.keys();
                outcomes.any(|outcome| matches(wanted, outcome))
                    || wanted == crate::summary::TOOL_ERROR && rows.tool_errors > 0
            }
            (Some(tool), wanted) => {
                let of_tool = rows.tools.get(tool);
                let is_wanted = |outcome: &String| {
                    wanted
                        .as_ref()
                        .is_none_or(|wanted| matches(wanted, outcome))
                };
                rows.of_other_tools > 0
                    || of_tool.is_some_and(|outcomes| outcomes.keys().any(is_wanted))
            }
        };
        is_gateway && has
    }

    /// Whether a listed exchange matches.
    #[must_use]
    pub fn is_notable(&self, one: &Notable) -> bool {
        let is_tool = self.tool.is_none() || self.tool == one.tool;
        let outcome = self.outcome.as_ref();
        is_tool && outcome.is_none_or(|wanted| matches(wanted, &one.outcome))
    }
}

fn matches(wanted: &str, outcome: &str) -> bool {
    wanted == outcome || wanted == HANG && is_hang(outcome)
}
