//! Requests of Responses.

use serde_json::{Map, Value, json};

use super::{item, write};
use crate::conversation::{Block, Message, Request, Role, Tool, ToolChoice, ToolSpec};
use crate::read::{Members, Problem, ReadError, kind};
use crate::write::{put, with};
use crate::{Call, Wire};

pub(crate) fn read(call: &Call, body: Value) -> Result<Request, ReadError> {
    let mut members = Members::of(body)?;
    let model = members.text("model")?.or_else(|| call.model.clone());
    let missing = || ReadError::new(Problem::Missing).under("model");
    let mut request = Request::new(Wire::OpenAiResponses, model.ok_or_else(missing)?);
    if let Some(text) = members.text("instructions")? {
        request.system.push(Block::text(text));
    }
    request.messages = match members.take("input") {
        Some(Value::String(text)) => vec![Message::new(Role::User, vec![Block::text(text)])],
        Some(Value::Array(list)) => item::messages(list).map_err(|error| error.under("input"))?,
        Some(_) => return Err(ReadError::expected("a string or a list of items").under("input")),
        None => Vec::new(),
    };
    request.tools = members.each("tools", tool)?;
    if let Some(choice) = members.take("tool_choice") {
        let read = tool_choice(choice).map_err(|error| error.under("tool_choice"))?;
        request.tool_choice = Some(read);
    }
    request.parallel_tools = members.flag("parallel_tool_calls")?;
    request.sampling.max_tokens = members.count("max_output_tokens")?;
    request.sampling.temperature = members.number("temperature")?;
    request.sampling.top_p = members.number("top_p")?;
    request.stream = members.flag("stream")?.unwrap_or(false);
    request.more = members.rest();
    Ok(request)
}

fn tool(value: Value) -> Result<ToolSpec, ReadError> {
    if value.is_object() && kind(&value) != Some("function") {
        return Ok(ToolSpec::Builtin(value));
    }
    let mut members = Members::of(value)?;
    members.take("type");
    Ok(ToolSpec::Function(Tool {
        name: members.needed_text("name")?,
        description: members.text("description")?,
        schema: members.take("parameters"),
        more: members.rest(),
    }))
}

fn tool_choice(value: Value) -> Result<ToolChoice, ReadError> {
    if let Some(word) = value.as_str() {
        return Ok(match word {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            "required" => ToolChoice::Required,
            _ => ToolChoice::Other(value),
        });
    }
    if !value.is_object() {
        return Err(ReadError::expected("a string or an object"));
    }
    let name = |value: &Value| Some(value.get("name")?.as_str()?.to_owned());
    match kind(&value) {
        Some("function") => Ok(name(&value).map_or(ToolChoice::Other(value), ToolChoice::Tool)),
        Some("allowed_tools") => {
            let tools = value.get("tools").and_then(Value::as_array);
            let is_function = |tool: &Value| kind(tool) == Some("function");
            let names = tools
                .filter(|tools| tools.iter().all(is_function))
                .and_then(|tools| tools.iter().map(name).collect());
            let required = value.get("mode").is_some_and(|mode| mode == "required");
            Ok(match names {
                Some(names) => ToolChoice::Among { names, required },
                None => ToolChoice::Other(value),
            })
        }
        _ => Ok(ToolChoice::Other(value)),
    }
}

pub(crate) fn write(request: &Request) -> Value {
    let mut map = Map::new();
    map.insert("model".into(), request.model.as_str().into());
    let texts: Vec<&str> = request.system.iter().filter_map(Block::as_text).collect();
    if !texts.is_empty() {
        map.insert("instructions".into(), texts.join("\n\n").into());
    }
    let mut input = Vec::new();
    for message in &request.messages {
        write::message(message, &mut input);
    }
    map.insert("input".into(), Value::Array(input));
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
    put(&mut map, "max_output_tokens", request.sampling.max_tokens);
    put(&mut map, "temperature", request.sampling.temperature);
    put(&mut map, "top_p", request.sampling.top_p);
    if request.stream {
        map.insert("stream".into(), true.into());
    }
    with(Value::Object(map), &request.more)
}

fn write_tool(tool: &ToolSpec) -> Value {
    let tool = match tool {
        ToolSpec::Builtin(value) => return value.clone(),
        ToolSpec::Function(tool) => tool,
    };
    let mut map = Map::new();
    map.insert("type".into(), "function".into());
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
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
        ToolChoice::Among { names, required } => {
            let tool = |name| json!({"type": "function", "name": name});
            let tools: Vec<Value> = names.iter().map(tool).collect();
            let mode = if *required { "required" } else { "auto" };
            json!({"type": "allowed_tools", "mode": mode, "tools": tools})
        }
        ToolChoice::Other(value) => value.clone(),
    }
}
