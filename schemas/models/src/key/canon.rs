//! A request as one canonical value.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::conversation::{
    Block, Content, Extra, Input, Media, Message, Request, Response, Source, ToolChoice, ToolSpec,
};
use crate::write::{put, sorted};
use tapewright_schemas::order::Order as _;

/// Members of a body that do not change the answer: how it is charged, stored, cached and sent.
const ASIDE: &[&str] = &[
    "cache_control",
    "client_metadata",
    "include",
    "labels",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "stream_options",
    "user",
];

pub(super) fn of(request: &Request) -> Value {
    let mut ids = Ids::default();
    let mut map = Map::new();
    map.insert("wire".into(), request.wire.name().into());
    map.insert("model".into(), request.model.as_str().into());
    let sampling = &request.sampling;
    put(&mut map, "max_tokens", sampling.max_tokens);
    put(&mut map, "temperature", sampling.temperature);
    put(&mut map, "top_p", sampling.top_p);
    put(&mut map, "top_k", sampling.top_k);
    put(&mut map, "seed", sampling.seed);
    if !sampling.stop.is_empty() {
        map.insert("stop".into(), sampling.stop.clone().into());
    }
    put(
        &mut map,
        "tool_choice",
        request.tool_choice.as_ref().map(choice),
    );
    put(&mut map, "parallel_tools", request.parallel_tools);
    for (name, value) in sorted_members(&request.more) {
        if !ASIDE.contains(&name.as_str()) {
            map.insert(name.clone(), sorted(value));
        }
    }
    let tools: Vec<Value> = request.tools.iter().map(tool).collect();
    map.insert("tools".into(), Value::Array(tools));
    map.insert("system".into(), ids.system(&request.system));
    map.insert("messages".into(), ids.messages(&request.messages));
    Value::Object(map)
}

/// The answer to a request.
pub(super) fn answer(request: &Request, response: &Response) -> Value {
    let mut ids = Ids::default();
    ids.system(&request.system);
    ids.messages(&request.messages);
    let answers = response.answers.iter().map(|answer| {
        let finish = answer.finish.as_ref().map(|finish| finish.reason.name());
        json!({"content": ids.blocks(&answer.blocks), "finish": finish})
    });
    let mut answers: Vec<Value> = answers.collect();
    match answers.pop() {
        Some(only) if answers.is_empty() => only,
        last => Value::Array(answers.into_iter().chain(last).collect()),
    }
}

fn sorted_members(map: &Extra) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.order_by_key(|(name, _)| name.as_str());
    members
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"tool": name}),
        ToolChoice::Among { names, required } => json!({"among": names, "required": required}),
        ToolChoice::Other(value) => sorted(value),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    match tool {
        ToolSpec::Builtin(value) => {
            let mut value = value.clone();
            if let Value::Object(map) = &mut value {
                map.shift_remove("cache_control");
            }
            sorted(&value)
        }
        ToolSpec::Function(tool) => json!({
            "name": tool.name,
            "description": tool.description,
            "schema": tool.schema.as_ref().map(sorted),
        }),
    }
}

/// Numbers for the ids of tool uses.
#[derive(Debug, Default)]
struct Ids {
    known: HashMap<String, usize>,
}

impl Ids {
    fn number(&mut self, id: &str) -> String {
        let next = self.known.len() + 1;
        let number = self.known.entry(id.to_owned()).or_insert(next);
        format!("#{number}")
    }

    /// Messages in their order. Results of several tools that were called at once, if each is a
    /// separate message, are in the order of the calls.
    fn messages(&mut self, messages: &[Message]) -> Value {
        let mut out = Vec::with_capacity(messages.len());
        let mut rest = messages;
        while let Some(first) = rest.first() {
            let results = rest.iter().take_while(|one| is_answer(one)).count();
            let (run, others) = rest.split_at(results.max(1));
            let mut run: Vec<&Message> = run.iter().collect();
            if is_answer(first) {
                run.order_by_key(|one| one.blocks.first().and_then(|block| self.turn(block)));
            }
            out.extend(run.iter().map(|one| self.message(one)));
            rest = others;
        }
        Value::Array(out)
    }

    /// When the tool use was requested that a block answers: parallel calls may end in any order,
    /// and some agents send the results in that order. By the name of the tool if there is no id.
    fn turn<'b>(&self, block: &'b Block) -> Option<(usize, &'b str)> {
        let Content::ToolResult(result) = &block.content else {
            return None;
        };
        match &result.id {
            Some(id) => self.known.get(id).map(|number| (*number, "")),
            None => result.name.as_deref().map(|name| (0, name)),
        }
    }

    fn message(&mut self, message: &Message) -> Value {
        json!({"role": message.role.name(), "content": self.blocks(&message.blocks)})
    }

    /// Instructions without the header that one agent adds, which is new in every session.
    fn system(&mut self, blocks: &[Block]) -> Value {
        let is_head = |block: &&Block| {
            let text = block.as_text().unwrap_or_default();
            text.starts_with("x-anthropic-billing-header:")
        };
        let said = blocks.iter().filter(|block| !is_head(block));
        let said: Vec<Block> = said.cloned().collect();
        self.blocks(&said)
    }

    fn blocks(&mut self, blocks: &[Block]) -> Value {
        // An empty text has no meaning; some clients send it back and others do not.
        let said = blocks.iter().filter(|block| block.as_text() != Some(""));
        let mut said: Vec<&Block> = said.collect();
        let is_known = |block: &Block| self.turn(block).is_some();
        for run in said.chunk_by_mut(|one, next| is_known(one) && is_known(next)) {
            run.order_by_key(|block| self.turn(block));
        }
        said.into_iter().map(|block| self.block(block)).collect()
    }

    fn block(&mut self, block: &Block) -> Value {
        match &block.content {
            Content::Text(text) => json!({"text": text}),
            Content::Refusal(text) => json!({"refusal": text}),
            Content::Json(value) => json!({"json": sorted(value)}),
            Content::Thinking(thinking) => json!({"thinking": thinking.text}),
            Content::Media(found) => media(found),
            Content::ToolUse(tool) => {
                let input = match &tool.input {
                    Input::Json(value) => sorted(value),
                    Input::Text(text) => text.as_str().into(),
                };
                let id = tool.id.as_deref().map(|id| self.number(id));
                json!({"tool_use": tool.name, "id": id, "input": input})
            }
            Content::ToolResult(result) => {
                let id = result.id.as_deref().map(|id| self.number(id));
                let content = self.blocks(&result.content);
                json!({"tool_result": id, "is_error": result.is_error, "content": content})
            }
            Content::Other(value) => self.other(value),
        }
    }

    /// A tool that a provider ran, without generated values.
    fn other(&mut self, value: &Value) -> Value {
        let mut value = sorted(value);
        if let Value::Object(map) = &mut value {
            for name in [
                "thoughtSignature",
                "thought_signature",
                "encrypted_content",
                "status",
            ] {
                map.shift_remove(name);
            }
            for name in ["id", "tool_use_id", "call_id"] {
                if let Some(Value::String(id)) = map.get(name) {
                    let number = self.number(id);
                    map.insert(name.to_owned(), number.into());
                }
            }
        }
        value
    }
}

/// Whether a message is the result of a single tool.
fn is_answer(message: &Message) -> bool {
    matches!(message.blocks.as_slice(), [Block { content: Content::ToolResult(result), .. }] if result.id.is_some())
}

fn media(media: &Media) -> Value {
    let (name, text) = match &media.source {
        Source::Base64(data) => ("base64", data),
        Source::Text(text) => ("text", text),
        Source::Url(url) => ("url", url),
        Source::File(id) => ("file", id),
    };
    let mut map = Map::new();
    put(&mut map, "mime", media.mime.as_deref());
    map.insert(name.to_owned(), text.as_str().into());
    json!({"media": map})
}
