//! The calls of tools, one by one.

use serde::Serialize;

use super::latency::Latencies;
use super::report::Delays;
use crate::conversation::name_of;
use crate::event::Offset;

/// The calls of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tool {
    /// Its name.
    pub tool: String,
    /// Calls.
    pub count: u64,
    /// Those that were answered.
    pub answered: u64,
    /// Those that were answered with an error of JSON-RPC.
    pub errors: u64,
    /// Those whose result says `isError`.
    pub tool_errors: u64,
    /// How long the answers took; `None` when the file has no times.
    pub delays: Option<Delays>,
    /// Bytes of the requests.
    pub request_bytes: u64,
    /// Bytes of the responses.
    pub response_bytes: u64,
}

/// Follows the calls of tools.
#[derive(Debug, Default)]
pub(super) struct ToolsFold {
    tools: Vec<(Tool, Latencies)>,
}

/// An answer to a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) error: bool,
    pub(super) tool_error: bool,
    pub(super) bytes: u64,
    pub(super) took: Offset,
}

/// How many tools are told apart; the rest counts as one.
const LIMIT: usize = 256;
const OTHERS: &str = "(others)";
const CALL: &str = "tools/call";

impl ToolsFold {
    /// A request of so many bytes; of which tool it is, if it calls one.
    pub(super) fn ask(&mut self, method: &str, params: Option<&[u8]>, bytes: u64) -> Option<usize> {
        let name = name_of(method, params.filter(|_| method == CALL))?;
        let place = self.place(&name);
        let (tool, _) = self.tools.get_mut(place)?;
        tool.count += 1;
        tool.request_bytes += bytes;
        Some(place)
    }

    /// A call of this tool is answered.
    pub(super) fn answer(&mut self, place: Option<usize>, reply: Reply) {
        let tool = place.and_then(|place| self.tools.get_mut(place));
        let Some((tool, latencies)) = tool else {
            return;
        };
        tool.answered += 1;
        tool.errors += u64::from(reply.error);
        tool.tool_errors += u64::from(reply.tool_error);
        tool.response_bytes += reply.bytes;
        latencies.add(reply.took.0);
    }

    /// The tools in the order of their first calls.
    pub(super) fn finish(self, timed: bool) -> Vec<Tool> {
        let delays = |latencies: &Latencies| latencies.delays().filter(|_| timed);
        let tools = self.tools.into_iter();
        tools
            .map(|(tool, latencies)| Tool {
                delays: delays(&latencies),
                ..tool
            })
            .collect()
    }

    fn place(&mut self, name: &str) -> usize {
        let full = self.tools.len() >= LIMIT;
        for name in [name, OTHERS] {
            let known = self.tools.iter().position(|(one, _)| one.tool == name);
            if let Some(place) = known {
                return place;
            }
            if !full {
                break;
            }
        }
        let tool = Tool {
            tool: if full { OTHERS } else { name }.to_owned(),
            count: 0,
            answered: 0,
            errors: 0,
            tool_errors: 0,
            delays: None,
            request_bytes: 0,
            response_bytes: 0,
        };
        self.tools.push((tool, Latencies::default()));
        self.tools.len() - 1
    }
}
