//! Requests of Anthropic Messages.

use serde_json::{Map, Value, json};

use super::block::{self, contents};
use crate::conversation::{Message, Request, Role, Tool, ToolChoice, ToolSpec};
use crate::read::{Members, Problem, ReadError};
use crate::write::with;
use crate::{Call, Wire};

/// The minimum that the wire demands, as the default.
const DEFAULT_MAX_TOKENS: u64 = 1_024;

pub(crate) fn read(call: &Call, body: Value) -> Result<Request, ReadError> {
    let mut members = Members::of(body)?;
    let model = members.text("model")?.or_else(|| call.model.clone());
    let missing = || ReadError::new(Problem::Missing).under("model");
    let mut request = Request::new(Wire::Anthropic, model.ok_or_else(missing)?);
    if let Some(system) = members.take("system") {
        request.system = contents(system).map_err(|error| error.under("system"))?;
    }
    request.messages = members.each("messages", message)?;
    request.tools = members.each("tools", tool)?;
    if let Some(mut choice) = members.object("tool_choice")? {
        let disabled = choice.flag("disable_parallel_tool_use");
        let disabled = disabled.map_err(|error| error.under("tool_choice"))?;
        request.parallel_tools = disabled.map(|disabled| !disabled);
        let read = tool_choice(choice).map_err(|error| error.under("tool_choice"))?;
        request.tool_choice = Some(read);
    }
    let sampling = &mut request.sampling;
    sampling.max_tokens = members.count("max_tokens")?;
    sampling.temperature = members.number("temperature")?;
    sampling.top_p = members.number("top_p")?;
    sampling.top_k = members.count("top_k")?;
    sampling.stop = members.texts("stop_sequences")?;
    request.stream = members.flag("stream")?.unwrap_or(call.stream == Some(true));
    request.more = members.rest();
    Ok(request)
}

fn message(value: Value) -> Result<Message, ReadError> {
    let mut members = Members::of(value)?;
    let role = match members.needed_text("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => Role::System,
        _ => return Err(ReadError::expected("`user` or `assistant`").under("role")),
    };
    let blocks = match members.take("content") {
        Some(value) => contents(value).map_err(|error| error.under("content"))?,
        None => return Err(ReadError::new(Problem::Missing).under("content")),
    };
    let more = members.rest();
    Ok(Message { role, blocks, more })
}

fn tool(value: Value) -> Result<ToolSpec, ReadError> {
    if value.is_object() && value.get("input_schema").is_none() {
        return Ok(ToolSpec::Builtin(value));
    }
    let mut members = Members::of(value)?;
    Ok(ToolSpec::Function(Tool {
        name: members.needed_text("name")?,
        description: members.text("description")?,
        schema: members.take("input_schema"),
        more: members.rest(),
    }))
}

fn tool_choice(mut members: Members) -> Result<ToolChoice, ReadError> {
    Ok(match members.needed_text("type")?.as_str() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => ToolChoice::Tool(members.needed_text("name")?),
        _ => return Err(ReadError::expected("a known choice").under("type")),
    })
}

pub(crate) fn write(request: &Request) -> Value {
    let mut map = Map::new();
    let sampling = &request.sampling;
    map.insert("model".into(), request.model.as_str().into());
    let max_tokens = sampling.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    map.insert("max_tokens".into(), max_tokens.into());
    if !request.system.is_empty() {
        let system = request.system.iter().map(block::write).collect();
        map.insert("system".into(), Value::Array(system));
    }
    let messages = request.messages.iter().map(write_message).collect();
    map.insert("messages".into(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(write_tool).collect();
        map.insert("tools".into(), Value::Array(tools));
    }
    if let Some(choice) = write_choice(request) {
        map.insert("tool_choice".into(), choice);
    }
    let numbers = [
        ("temperature", sampling.temperature),
        ("top_p", sampling.top_p),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            map.insert(name.into(), number.into());
        }
    }
    if let Some(top_k) = sampling.top_k {
        map.insert("top_k".into(), top_k.into());
    }
    if !sampling.stop.is_empty() {
        map.insert("stop_sequences".into(), sampling.stop.clone().into());
    }
    if request.stream {
        map.insert("stream".into(), true.into());
    }
    with(Value::Object(map), &request.more)
}

fn write_message(message: &Message) -> Value {
    let blocks: Vec<Value> = message.blocks.iter().map(block::write).collect();
    with(
        json!({"role": message.role.name(), "content": blocks}),
        &message.more,
    )
}

fn write_tool(tool: &ToolSpec) -> Value {
    let tool = match tool {
        ToolSpec::Builtin(value) => return value.clone(),
        ToolSpec::Function(tool) => tool,
    };
    let mut map = Map::new();
    map.insert("name".into(), tool.name.as_str().into());
    if let Some(text) = &tool.description {
        map.insert("description".into(), text.as_str().into());
    }
    let schema = tool.schema.clone();
    let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
    map.insert("input_schema".into(), schema);
    with(Value::Object(map), &tool.more)
}

fn write_choice(request: &Request) -> Option<Value> {
    let choice = match (&request.tool_choice, request.parallel_tools) {
        (None, None) => return None,
        (None, Some(_)) => &ToolChoice::Auto,
        (Some(choice), _) => choice,
    };
    let mut value = match choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
        // The wire has no list; the client only sends the allowed tools.
        ToolChoice::Among { required, .. } => {
            json!({"type": if *required { "any" } else { "auto" }})
        }
        ToolChoice::Other(value) => value.clone(),
    };
    if let (Some(parallel), Value::Object(map)) = (request.parallel_tools, &mut value) {
        map.insert("disable_parallel_tool_use".into(), (!parallel).into());
    }
    Some(value)
}
