//! Extracts an agent's run from a recording of its model calls.
//!
//! An agent sends the whole conversation with every call, so that the longest call contains the
//! run. Other calls, for a title or by a subagent, are shorter.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use tapewright_schemas::event::Offset;
use tapewright_schemas::order::Order as _;
use tapewright_schemas::slices::Part as _;

use super::{
    AgentCassette, ModelReply, RunStats, StopReason, Tokens, ToolCall, ToolOutcome, Trace, Turn,
    UserTurn,
};
use crate::conversation::{
    Block, Content, Input, Media, MediaKind, Message, Request, Response, Role, Source, ToolResult,
    ToolUse,
};
use crate::key::Key;
use crate::recognise::Operation;
use crate::recorded::ProviderExchange;

/// A call that was answered.
struct Call {
    request: Request,
    response: Response,
    began: Offset,
    ended: Offset,
}

impl AgentCassette {
    /// The run of the agent in these exchanges; `None` if no model answered.
    #[must_use]
    pub fn of_recording(
        exchanges: &[ProviderExchange],
        agent_name: &str,
        recorded_at: &str,
    ) -> Option<Self> {
        let calls: Vec<Call> = exchanges.iter().filter_map(answered).collect();
        let at = (0..calls.len()).max_by_key(|at| size(&calls, *at))?;
        let last = calls.get(at)?;
        let messages = history(&calls, at);
        let (prompt, begins) = prompt(&messages);
        let mut run = Run::default();
        for message in messages.part(begins..) {
            run.message(message);
        }
        let trace = run.trace(&calls, &messages, last);
        Some(Self {
            agent_name: agent_name.to_owned(),
            model: last.request.model.clone(),
            user_prompt: prompt,
            system_prompt: system(&last.request),
            recorded_at: recorded_at.to_owned(),
            // The agent does not only offer the servers' tools.
            tools_fingerprint: None,
            temperature: last.request.sampling.temperature,
            max_tokens: last.request.sampling.max_tokens,
            servers: BTreeMap::new(),
            trace,
        })
    }
}

fn answered(exchange: &ProviderExchange) -> Option<Call> {
    let call = exchange.call()?;
    let answer = exchange.answer.as_ref()?;
    if call.operation != Operation::Generate || answer.status >= 300 {
        return None;
    }
    Some(Call {
        request: call.wire.read_request(&call, &exchange.body).ok()?,
        response: answer.said(&call)?.response,
        began: exchange.at,
        ended: exchange.at.plus(answer.took()),
    })
}

/// A call and those that it continues according to the ids of their answers, latest first.
fn chain(calls: &[Call], at: usize) -> Vec<usize> {
    let mut chain = vec![at];
    let mut latest = at;
    while let Some(before) = before(calls, latest) {
        chain.push(before);
        latest = before;
    }
    chain
}

/// An answer precedes the calls that continue it, so a chain ends.
fn before(calls: &[Call], at: usize) -> Option<usize> {
    let id = calls.get(at)?.request.more.get(EARLIER)?.as_str()?;
    let earlier = calls.part(..at).iter();
    earlier
        .rev()
        .position(|one| one.response.id.as_deref() == Some(id))
        .map(|back| at - 1 - back)
}

/// The member by which a request builds upon an answer.
const EARLIER: &str = "previous_response_id";

/// The size of the conversation in a call.
fn size(calls: &[Call], at: usize) -> (usize, usize, usize) {
    let messages = |at: &usize| calls.get(*at).map_or(0, |call| call.request.messages.len());
    let tools = calls.get(at).map_or(0, |call| call.request.tools.len());
    (chain(calls, at).iter().map(messages).sum(), tools, at)
}

/// The whole conversation: the calls that it continues, the call itself, and its answer.
fn history(calls: &[Call], at: usize) -> Vec<Message> {
    let mut all = Vec::new();
    for at in chain(calls, at).into_iter().rev() {
        if let Some(call) = calls.get(at) {
            all.extend(call.request.messages.iter().cloned());
            let said = call.response.blocks().to_vec();
            all.push(Message::new(Role::Assistant, said));
        }
    }
    all
}

/// The user's prompt, and its index: the last message before the model's first answer, without the
/// text that the agent puts around it.
fn prompt(messages: &[Message]) -> (String, usize) {
    let is_answer = |message: &Message| message.role == Role::Assistant;
    let end = messages
        .iter()
        .position(is_answer)
        .unwrap_or(messages.len());
    let before = messages.part(..end).iter().enumerate();
    let of_user = before.filter(|(_, message)| message.role == Role::User);
    let mut found = of_user.map(|(at, message)| (asked(message), at));
    let last = found.by_ref().filter(|(text, _)| !text.is_empty()).last();
    last.unwrap_or_default()
}

/// The user's text in a message.
fn asked(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(Block::as_text);
    let texts: Vec<&str> = texts
        .filter(|text| !is_around(text))
        .map(str::trim)
        .collect();
    texts.join("\n\n")
}

/// Whether a text was added by an agent around a prompt: it is entirely in one tag, such as
/// `<system-reminder>` or `<environment_context>`.
fn is_around(text: &str) -> bool {
    let text = text.trim();
    let Some((tag, _)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return text.is_empty();
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    !tag.is_empty() && tag.chars().all(is_name) && text.ends_with(&format!("</{tag}>"))
}

fn system(request: &Request) -> Option<String> {
    let texts = request.system.iter().filter_map(Block::as_text);
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// A run while it is being extracted.
#[derive(Default)]
struct Run {
    trace: Trace,
    turns: Vec<UserTurn>,
    // The index of the call with an id.
    ids: HashMap<String, usize>,
    // Calls without a result, in order.
    open: Vec<usize>,
    // The index of the first call in the current turn of the user.
    first: usize,
}

impl Run {
    fn message(&mut self, message: &Message) {
        match message.role {
            Role::User => self.user(message),
            Role::Assistant => self.assistant(message),
            Role::System => {}
        }
    }

    fn user(&mut self, message: &Message) {
        for block in &message.blocks {
            if let Content::ToolResult(result) = &block.content {
                self.result(result);
            }
        }
        let text = asked(message);
        if !text.is_empty() {
            self.say("user", text.clone());
            self.first = self.trace.tool_calls.len();
            self.turns.push(UserTurn {
                user: text,
                ..UserTurn::default()
            });
        }
    }

    fn assistant(&mut self, message: &Message) {
        let mut text = String::new();
        for block in &message.blocks {
            match &block.content {
                Content::Text(said) => text.push_str(said),
                Content::ToolUse(tool) => self.call(tool),
                _ => {}
            }
        }
        if text.is_empty() {
            return;
        }
        if let Some(turn) = self.turns.last_mut() {
            turn.final_response.clone_from(&text);
        }
        self.trace.final_response.clone_from(&text);
        self.say("assistant", text);
    }

    fn call(&mut self, tool: &ToolUse) {
        let at = self.trace.tool_calls.len();
        let (server, name) = server_of(&tool.name);
        if let Some(id) = &tool.id {
            self.ids.insert(id.clone(), at);
        }
        self.open.push(at);
        let call = ToolCall {
            name: name.to_owned(),
            server: server.to_owned(),
            args: match &tool.input {
                Input::Json(value) => value.clone(),
                Input::Text(text) if text.trim().is_empty() => json!({}),
                Input::Text(text) => text.as_str().into(),
            },
            caller: None,
            hop_index: at as u64,
            agent_id: None,
            inputs_digest: None,
        };
        if let Some(turn) = self.turns.last_mut() {
            turn.tool_calls.push(call.clone());
        }
        self.trace.tool_calls.push(call);
    }

    fn result(&mut self, result: &ToolResult) {
        let known = result.id.as_ref().and_then(|id| self.ids.get(id)).copied();
        let Some(at) = known.or_else(|| self.open.first().copied()) else {
            return;
        };
        self.open.retain(|open| *open != at);
        let server = self
            .trace
            .tool_calls
            .get(at)
            .map(|call| call.server.clone());
        let outcome = ToolOutcome {
            call_index: at as u64,
            server: server.unwrap_or_default(),
            is_error: result.is_error,
            result: result_of(result),
        };
        self.say("tool", text_of(&result.content));
        if let Some(turn) = self.turns.last_mut() {
            let within = at.saturating_sub(self.first) as u64;
            turn.tool_results.push(ToolOutcome {
                call_index: within,
                ..outcome.clone()
            });
        }
        self.trace.tool_results.push(outcome);
    }

    fn say(&mut self, role: &str, content: String) {
        self.trace.conversation.turns.push(Turn {
            role: role.to_owned(),
            content,
        });
    }

    /// The trace, with the counts of all calls that belong to the run.
    fn trace(self, calls: &[Call], messages: &[Message], last: &Call) -> Trace {
        let Self {
            mut trace, turns, ..
        } = self;
        let own: Vec<&Call> = calls
            .iter()
            .filter(|call| is_part(call, messages, last))
            .collect();
        let sum = |part: fn(&crate::conversation::Usage) -> Option<u64>| {
            let used = own.iter().filter_map(|call| call.response.usage.as_ref());
            used.filter_map(part).sum::<u64>()
        };
        let (prompt, completion) = (sum(|usage| usage.input), sum(|usage| usage.output));
        let began = own
            .iter()
            .map(|call| call.began)
            .min()
            .unwrap_or(last.began);
        let said = std::mem::take(&mut trace.conversation.turns);
        trace.conversation = RunStats {
            tokens: Tokens {
                prompt,
                completion,
                total: prompt + completion,
            },
            duration_ms: last.ended.since(began).0 / 1_000,
            message_count: said.len() as u64,
            stop_reason: StopReason::Completed,
            turns: said,
            per_turn: if turns.len() > 1 { turns } else { Vec::new() },
        };
        trace.answers = answers(&own, trace.tool_calls.len());
        trace
    }
}

/// The model's message in each call of the run. Empty if some of them are not in the recording,
/// since tool calls cannot be assigned to answers then.
fn answers(own: &[&Call], tool_calls: usize) -> Vec<ModelReply> {
    let mut own = own.to_vec();
    own.order_by_key(|call| call.began);
    let said = |call: &&Call| {
        let took = call.ended.since(call.began).0 / 1_000;
        ModelReply::of(&call.response, Some(took))
    };
    let all: Vec<ModelReply> = own.iter().map(said).collect();
    let counted: u64 = all.iter().map(|said| said.tool_calls).sum();
    if counted == tool_calls as u64 {
        all
    } else {
        Vec::new()
    }
}

/// Whether a call is a step of the run: its messages are the beginning of the run.
fn is_part(call: &Call, messages: &[Message], last: &Call) -> bool {
    let request = &call.request;
    if request.wire != last.request.wire || request.model != last.request.model {
        return false;
    }
    if request.more.contains_key(EARLIER) {
        return true;
    }
    let Some(beginning) = messages.get(..request.messages.len()) else {
        return false;
    };
    let told = |messages: &[Message]| {
        let mut plain = Request::new(request.wire, "");
        plain.messages = messages.to_vec();
        Key::of(&plain)
    };
    told(&request.messages) == told(beginning)
}

/// The server of a tool, and its name on that server: `mcp__fs__read` and `fs__read` are `read` of
/// `fs`.
fn server_of(name: &str) -> (&str, &str) {
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    name.split_once("__").unwrap_or(("", name))
}

/// A result of `tools/call` as the agent passed it to the model.
fn result_of(result: &ToolResult) -> Value {
    let content: Vec<Value> = result.content.iter().map(content).collect();
    let mut map = Map::new();
    map.insert("content".to_owned(), content.into());
    if result.is_error {
        map.insert("isError".to_owned(), true.into());
    }
    Value::Object(map)
}

fn content(block: &Block) -> Value {
    match &block.content {
        Content::Text(text) | Content::Refusal(text) => json!({"type": "text", "text": text}),
        Content::Media(Media {
            kind,
            mime,
            source: Source::Base64(data),
        }) if matches!(kind, MediaKind::Image | MediaKind::Audio) => {
            let kind = if *kind == MediaKind::Image {
                "image"
            } else {
                "audio"
            };
            json!({"type": kind, "data": data, "mimeType": mime})
        }
        Content::Json(value) | Content::Other(value) => {
            json!({"type": "text", "text": value.to_string()})
        }
        other => json!({"type": "text", "text": format!("{other:?}")}),
    }
}

fn text_of(blocks: &[Block]) -> String {
    let texts: Vec<String> = blocks
        .iter()
        .map(|block| match &block.content {
            Content::Text(text) => text.clone(),
            Content::Json(value) => value.to_string(),
            _ => String::new(),
        })
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n")
}
