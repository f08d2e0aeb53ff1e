//! Tests servers that ask their client for something: roots, a sampled text, a form that a person
//! fills in.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tapewright_corpus::inventory::is_harmless;
use tapewright_corpus::judge::Assertion;
use tapewright_corpus::observation::{Observation, Reply};
use tapewright_corpus::rounds;
use tapewright_corpus::rule;
use tapewright_corpus::verdict::Untested;
use tapewright_schemas::order::Order as _;

use super::{Asker, answers};
use crate::command::init::arguments;

/// How often a request is sent again with the input that its result asked for.
const ROUNDS: usize = 8;
/// How many tools are called to find one that asks.
const CALLS: usize = 12;
/// Time limit for a tool that does not name what it may ask for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A call of a tool, to see what it asks for.
pub(super) struct ToolCall {
    tool: String,
    seen: Observation,
}

/// Whether a call is of any tool of the server, so that each can be tried.
pub(super) fn is_any_tool(call: &rule::Call) -> bool {
    let params = call.params.as_ref();
    let name = params.and_then(|params| params.get("name")?.as_str());
    let arguments = params.and_then(|params| params.get("arguments")?.as_object());
    name == Some("${tool:first}") && arguments.is_none_or(Map::is_empty)
}

impl Asker {
    /// Sends the input that a result asks for, until a result asks for nothing more (2026-07-28,
    /// basic/patterns/mrtr).
    pub(super) fn with_input(
        &mut self,
        mut seen: Observation,
        mut ask: impl FnMut(&mut Self, &Map<String, Value>) -> Result<Observation, Untested>,
    ) -> Result<Observation, Untested> {
        for round in 0..ROUNDS {
            let method = seen.sent.method.as_deref().unwrap_or_default();
            let reply = seen.answers.first().map(|answer| &answer.reply);
            let Some(wanted) = reply.and_then(|reply| rounds::required(method, reply)) else {
                break;
            };
            let responses = answers::responses(wanted);
            let again = rounds::again(seen.sent.params.as_ref(), wanted, responses);
            let asked = rounds::asked(wanted, round);
            seen.between.extend(asked);
            seen.between.extend(rounds::answered(&again, round));
            let next = ask(self, &again)?;
            seen.between.extend(next.between);
            seen.answers = next.answers;
        }
        Ok(seen)
    }

    /// Calls tools until one asks for what an assertion is about. Tools that name it are called
    /// first; destructive tools are never called.
    pub(super) fn asking(&mut self, assertion: &Assertion) -> Result<Observation, Untested> {
        let wanted = assertion.written.expect.server_request.as_ref();
        let method = wanted
            .map(|wanted| wanted.method.clone())
            .unwrap_or_default();
        self.list_again();
        let plain = self.plain(assertion);
        if let Ok(seen) = &plain
            && seen.asks_for(&method)
        {
            return plain;
        }
        for (tool, names) in self.candidates(&method) {
            if let Some(call) = self.asked.iter().find(|call| call.seen.asks_for(&method)) {
                return Ok(call.seen.clone());
            }
            if self.asked.len() >= CALLS || self.clock.elapsed() > self.target.limit {
                break;
            }
            self.call(&tool, names)?;
        }
        let call = self.asked.iter().find(|call| call.seen.asks_for(&method));
        call.map_or(plain, |call| Ok(call.seen.clone()))
    }

    /// A server may offer more once it knows what its client supports.
    fn list_again(&mut self) {
        if self.asked.is_empty()
            && let Ok(seen) = self.ask("tools/list", None, self.target.timeout)
            && let Some(Reply::Result(result)) = seen.answers.first().map(|answer| &answer.reply)
        {
            self.facts.known.learn("tools/list", result);
        }
    }

    /// The tools that may ask: those that name what they ask for, then those that are read-only.
    fn candidates(&self, method: &str) -> Vec<(Value, bool)> {
        let stem = match method {
            "elicitation/create" => "elicit",
            "sampling/createMessage" => "sampl",
            _ => "roots",
        };
        let names = |tool: &Value| {
            ["name", "title", "description"].iter().any(|member| {
                let text = tool.get(*member).and_then(Value::as_str);
                text.is_some_and(|text| text.to_ascii_lowercase().contains(stem))
            })
        };
        let reads = |tool: &Value| tool.pointer("/annotations/readOnlyHint") == Some(&json!(true));
        let known = self.facts.known.tools.items.iter();
        let called = |tool: &&Value| {
            let name = tool.get("name").and_then(Value::as_str);
            self.asked
                .iter()
                .any(|call| Some(call.tool.as_str()) == name)
        };
        let mut all: Vec<(Value, bool)> = known
            .filter(|tool| is_harmless(tool) && (names(tool) || reads(tool)))
            .filter(|tool| !called(tool))
            .map(|tool| (tool.clone(), names(tool)))
            .collect();
        all.order_by_key(|(_, names)| !names);
        all
    }

    /// Calls a tool with the smallest arguments that it accepts. Only a tool that names what it
    /// asks for gets the full time.
    fn call(&mut self, tool: &Value, names: bool) -> Result<(), Untested> {
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let Some(arguments) = arguments::of(tool.get("inputSchema")) else {
            return Ok(());
        };
        let params = json!({ "name": name, "arguments": arguments });
        let timeout = if names {
            self.target.timeout
        } else {
            PATIENCE.min(self.target.timeout)
        };
        let seen = self.ask("tools/call", params.as_object(), timeout)?;
        self.asked.push(ToolCall {
            tool: name.to_owned(),
            seen: Observation {
                chosen: true,
                ..seen
            },
        });
        Ok(())
    }
}
