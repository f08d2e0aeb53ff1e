//! Which announcements are wanted.

use crate::announce::Announcement;
use crate::names::Gateway;
use crate::summary::{Notable, is_hang};

/// The word for every outcome that is a hang.
const HANG: &str = "hang";

/// What is wanted of what is heard; everything, where nothing is said.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Of this gateway.
    pub gateway: Option<Gateway>,
    /// With calls of this tool.
    pub tool: Option<String>,
    /// With exchanges that ended so; `hang` for those that hang.
    pub outcome: Option<String>,
}

impl Wanted {
    /// Whether an announcement has something that is wanted. Of tools that were too many to be told, that is not known: it has.
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

    /// Whether an exchange among what is told is wanted.
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
