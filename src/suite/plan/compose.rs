//! A composition: calls of tools, ordered so that each follows the calls whose values it needs.

use std::sync::Arc;

use tapewright_assertions::Assertion;
use tapewright_config::Suite;
use tapewright_config::suite::composition::{Composition, CompositionNode};
use tapewright_config::template::Template;

/// The calls of a composition in topological order. Of several possible next ones, the first in the
/// suite comes first.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// The node whose output is the output of the composition.
    pub(crate) output: Option<String>,
    pub(crate) assertions: Vec<Arc<Assertion>>,
}

/// One call.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) needs: Vec<String>,
    pub(crate) args: Template,
}

impl Graph {
    /// The graph of a checked composition: without cycles or unknown names.
    pub(super) fn new(from: &Composition, suite: &Suite, assertions: Vec<Arc<Assertion>>) -> Self {
        let mut waiting: Vec<&CompositionNode> = from.nodes.iter().collect();
        let mut nodes: Vec<Node> = Vec::new();
        while !waiting.is_empty() {
            let ready = waiting.iter().position(|one| {
                let mut needs = one.needs.iter();
                needs.all(|id| nodes.iter().any(|node| node.id == *id))
            });
            // Cycles were refused before; if there were one, its nodes would keep their order.
            let one = waiting.remove(ready.unwrap_or(0));
            let only = suite.servers.first().map(|server| server.name.clone());
            nodes.push(Node {
                id: one.id.clone(),
                server: one.server.clone().or(only).unwrap_or_default(),
                tool: one.tool.clone(),
                needs: one.needs.clone(),
                args: one.args.clone(),
            });
        }
        let last = nodes.last().map(|node| node.id.clone());
        Self {
            nodes,
            output: from.output.clone().or(last),
            assertions,
        }
    }

    /// The servers that its nodes call, each once.
    pub(crate) fn servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> = Vec::new();
        for node in &self.nodes {
            if !servers.contains(&node.server.as_str()) {
                servers.push(&node.server);
            }
        }
        servers
    }
}
