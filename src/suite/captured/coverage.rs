//! Which parts of its servers a recording used, for the report.

use tapewright_assertions::score::{Coverage, ToolUse};

use crate::suite::result::Tool;

/// The tools, with the names of the tests that matched their calls.
pub(super) fn tools(coverage: &Coverage, name: &dyn Fn(&usize) -> Option<String>) -> Vec<Tool> {
    let tool = |((server, tool), used): (&(String, String), &ToolUse)| Tool {
        server: server.clone(),
        name: tool.clone(),
        calls: used.calls,
        listed: used.listed,
        tests: used.tests.iter().filter_map(name).collect(),
    };
    coverage.tools.iter().map(tool).collect()
}

/// The note about an incomplete recording.
pub(super) fn gaps(coverage: &Coverage) -> Option<String> {
    (coverage.gaps > 0).then(|| {
        format!(
            "the recording is incomplete: {} messages are missing or cut",
            coverage.gaps
        )
    })
}
