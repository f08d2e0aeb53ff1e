//! Writing requests of Chat Completions.

use serde_json::{Map, Value, json};

use super::part;
use crate::conversation::{
    Block, Content, Input, Message, Request, Role, Tool, ToolChoice, ToolResult, ToolSpec, ToolUse,
};
use crate::write::{put, with};

pub(crate) fn write(request: &Request) -> Value {
    let mut map = Map::new();
    let sampling = &request.sampling;
    map.insert("model".into(), request.model.as_str().into());
    let mut messages: Vec<Value> = Vec::new();
    messages.extend(request.system.iter().map(system));
    for message in &request.messages {
        write_message(message, &mut messages);
    }
    map.insert("messages".into(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(write_tool).collect();
        map.insert("tools".into(), Value::Array(tools));
    }
    put(
        &mut map,
        "tool_choice",
        request.tool_choice.as_ref().map(write_choice),
    );
    put(&mut map, "parallel_tool_calls", request.parallel_tools);
    let limit = if wants_newer_limit(&request.model) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    put(&mut map, limit, sampling.max_tokens);
    put(&mut map, "temperature", sampling.temperature);
    put(&mut map, "top_p", sampling.top_p);
    put(&mut map, "top_k", sampling.top_k);
    if !sampling.stop.is_empty() {
        map.insert("stop".into(), sampling.stop.clone().into());
    }
    put(&mut map, "seed", sampling.seed);
    if request.stream {
        map.insert("stream".into(), true.into());
    }
    with(Value::Object(map), &request.more)
}

/// Reasoning models of `OpenAI` do not accept `max_tokens`; compatible providers only support that.
fn wants_newer_limit(model: &str) -> bool {
    let model = model.strip_prefix("openai/").unwrap_or(model);
    let mut letters = model.chars();
    let is_o = letters.next() == Some('o') && letters.next().is_some_and(|c| c.is_ascii_digit());
    is_o || model.starts_with("gpt-5")
}

fn system(block: &Block) -> Value {
    json!({"role": "system", "content": content(std::slice::from_ref(block))})
}

/// A text by itself as a string, everything else in parts.
fn content(blocks: &[Block]) -> Value {
    match blocks {
        [] => Value::String(String::new()),
        [
            Block {
                content: Content::Text(text),
                more,
            },
        ] if more.is_empty() => text.as_str().into(),
        blocks => blocks.iter().map(part::write).collect(),
    }
}

fn write_message(message: &Message, out: &mut Vec<Value>) {
    match message.role {
        Role::System => out.push(with(
            json!({"role": "system", "content": content(&message.blocks)}),
            &message.more,
        )),
        Role::Assistant => {
            let mut value = said(&message.blocks);
            if let Value::Object(map) = &mut value {
                map.insert("role".into(), "assistant".into());
            }
            out.push(with(value, &message.more));
        }
        Role::User => user(message, out),
    }
}

/// Tool results are separate messages; they cannot contain images, which follow as a message of the
/// user.
fn user(message: &Message, out: &mut Vec<Value>) {
    let mut rest = Vec::new();
    let mut results = 0;
    for block in &message.blocks {
        if let Content::ToolResult(result) = &block.content {
            results += 1;
            out.push(with(write_result(result, &mut rest), &block.more));
        }
    }
    let others = message.blocks.iter().filter(|block| !block.is_result());
    rest.extend(others.cloned());
    if !rest.is_empty() || results == 0 {
        out.push(with(
            json!({"role": "user", "content": content(&rest)}),
            &message.more,
        ));
    }
}

fn write_result(result: &ToolResult, media: &mut Vec<Block>) -> Value {
    let (shown, texts): (Vec<_>, Vec<_>) = result
        .content
        .iter()
        .partition(|block| matches!(block.content, Content::Media(_)));
    let mut texts: Vec<Block> = texts.into_iter().cloned().collect();
    if let [
        Block {
            content: only @ Content::Json(_),
            ..
        },
    ] = texts.as_mut_slice()
        && let Content::Json(value) = only
    {
        *only = Content::Text(value.to_string());
    }
    if result.is_error {
        texts = vec![Block::text(error_text(&texts))];
    }
    if !shown.is_empty() {
        let id = result.id.as_deref().unwrap_or_default();
        media.push(Block::text(format!("Returned by the tool call {id}:")));
        media.extend(shown.into_iter().cloned());
    }
    let mut map = Map::new();
    map.insert("role".into(), "tool".into());
    put(&mut map, "tool_call_id", result.id.as_deref());
    map.insert("content".into(), content(&texts));
    Value::Object(map)
}

/// The text of a tool's failure, for wires that cannot mark it as one.
pub(crate) fn error_text(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(|block| match &block.content {
        Content::Text(text) => text.clone(),
        Content::Json(value) => value.to_string(),
        _ => String::new(),
    });
    let text: String = texts.collect::<Vec<_>>().join("\n");
    if text
        .get(..5)
        .is_some_and(|head| head.eq_ignore_ascii_case("error"))
    {
        text
    } else {
        format!("Error: {text}")
    }
}

/// The message of a model, without its role.
pub(super) fn said(blocks: &[Block]) -> Value {
    let mut map = Map::new();
    let mut parts = Vec::new();
    let mut uses = Vec::new();
    for block in blocks {
        match &block.content {
            Content::Thinking(thinking) if !block.more.contains_key("thinking") => {
                put(&mut map, "reasoning_content", Some(thinking.text.as_str()));
            }
            Content::Refusal(text) => put(&mut map, "refusal", Some(text.as_str())),
            Content::ToolUse(tool) => uses.push(with(write_use(tool, block), &block.more)),
            Content::ToolResult(_) => {}
            _ => parts.push(block.clone()),
        }
    }
    let text = if parts.is_empty() {
        Value::Null
    } else {
        content(&parts)
    };
    map.insert("content".into(), text);
    if !uses.is_empty() {
        map.insert("tool_calls".into(), Value::Array(uses));
    }
    Value::Object(map)
}

fn write_use(tool: &ToolUse, block: &Block) -> Value {
    let text = tool.input.to_text();
    let is_custom = block.more.get("type").is_some_and(|kind| kind == "custom");
    match &tool.input {
        Input::Text(_) if is_custom => {
            json!({"id": tool.id, "custom": {"name": tool.name, "input": text}})
        }
        _ => json!({
            "id": tool.id,
            "type": "function",
            "function": {"name": tool.name, "arguments": text},
        }),
    }
}

fn write_tool(tool: &ToolSpec) -> Value {
    match tool {
        ToolSpec::Builtin(value) => value.clone(),
        ToolSpec::Function(tool) => json!({"type": "function", "function": function(tool)}),
    }
}

fn function(tool: &Tool) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), tool.name.as_str().into());
    put(&mut map, "description", tool.description.as_deref());
    put(&mut map, "parameters", tool.schema.clone());
    with(Value::Object(map), &tool.more)
}

fn write_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
        ToolChoice::Among { names, required } => {
            let tool = |name| json!({"type": "function", "function": {"name": name}});
            let tools: Vec<Value> = names.iter().map(tool).collect();
            let mode = if *required { "required" } else { "auto" };
            json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
        }
        ToolChoice::Other(value) => value.clone(),
    }
}
