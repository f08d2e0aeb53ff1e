//! The tools that a session used, and the tests that exercised them.

use std::collections::{BTreeMap, BTreeSet};

use super::calls::{Reply, ScoredExchange};
use crate::json::Json;

/// The use of the servers' tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The tools, by server and name.
    pub tools: BTreeMap<(String, String), ToolUse>,
    /// The number of gaps and clipped messages, which may hide more.
    pub gaps: u64,
}

/// The use of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// How often it was called.
    pub calls: usize,
    /// Whether its server listed it.
    pub listed: bool,
    /// The tests that one of its calls exercised, by number, each once.
    pub tests: BTreeSet<usize>,
}

/// The maximum number of tools that are distinguished.
const TOOLS: usize = 4_096;

impl Coverage {
    pub(super) fn note(
        &mut self,
        server: &str,
        exchange: &ScoredExchange,
        params: &Json,
        tests: &[usize],
    ) {
        match exchange.method.as_str() {
            "tools/call" => {
                let Some(name) = params.get("name").and_then(Json::as_str) else {
                    return;
                };
                if let Some(tool) = self.tool(server, name) {
                    tool.calls += 1;
                    tool.tests.extend(tests);
                }
            }
            "tools/list" => {
                let Reply::Result(result) = &exchange.reply else {
                    return;
                };
                let Ok(result) = Json::read(result) else {
                    return;
                };
                let tools = result.get("tools").and_then(Json::as_array);
                for tool in tools.unwrap_or_default() {
                    let name = tool.get("name").and_then(Json::as_str);
                    if let Some(tool) = name.and_then(|name| self.tool(server, name)) {
                        tool.listed = true;
                    }
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, server: &str, name: &str) -> Option<&mut ToolUse> {
        let key = (server.to_owned(), name.to_owned());
        if self.tools.len() >= TOOLS && !self.tools.contains_key(&key) {
            return None;
        }
        Some(self.tools.entry(key).or_default())
    }
}
