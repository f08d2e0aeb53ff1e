//! Requests of Chat Completions.

use serde_json::Value;

use super::message;
use crate::conversation::{Request, Tool, ToolChoice, ToolSpec};
use crate::read::{Members, Problem, ReadError, kind};
use crate::{Call, Wire};

pub(crate) fn read(call: &Call, body: Value) -> Result<Request, ReadError> {
    let mut members = Members::of(body)?;
    let model = members.text("model")?.or_else(|| call.model.clone());
    let missing = || ReadError::new(Problem::Missing).under("model");
    let mut request = Request::new(Wire::OpenAiChat, model.ok_or_else(missing)?);
    let list = members.list("messages")?;
    let (system, messages) = message::read(list).map_err(|error| error.under("messages"))?;
    request.system = system;
    request.messages = messages;
    request.tools = members.each("tools", tool)?;
    if let Some(choice) = members.take("tool_choice") {
        let read = tool_choice(choice).map_err(|error| error.under("tool_choice"))?;
        request.tool_choice = Some(read);
    }
    request.parallel_tools = members.flag("parallel_tool_calls")?;
    let sampling = &mut request.sampling;
    let newer = members.count("max_completion_tokens")?;
    sampling.max_tokens = newer.or(members.count("max_tokens")?);
    sampling.temperature = members.number("temperature")?;
    sampling.top_p = members.number("top_p")?;
    sampling.top_k = members.count("top_k")?;
    sampling.stop = match members.take("stop") {
        Some(Value::String(text)) => vec![text],
        Some(list) => {
            members.put_all([("stop".to_owned(), list)].into_iter().collect());
            members.texts("stop")?
        }
        None => Vec::new(),
    };
    sampling.seed = members.integer("seed")?;
    request.stream = members.flag("stream")?.unwrap_or(false);
    request.more = members.rest();
    Ok(request)
}

fn tool(value: Value) -> Result<ToolSpec, ReadError> {
    if value.is_object() && value.get("function").is_none() {
        return Ok(ToolSpec::Builtin(value));
    }
    let mut members = Members::of(value)?;
    members.take("type");
    let mut function = members.object("function")?.unwrap_or_default();
    let name = function.needed_text("name");
    let description = function.text("description");
    let schema = function.take("parameters");
    let mut more = function.rest();
    more.extend(members.rest());
    Ok(ToolSpec::Function(Tool {
        name: name.map_err(|error| error.under("function"))?,
        description: description.map_err(|error| error.under("function"))?,
        schema,
        more,
    }))
}

fn tool_choice(value: Value) -> Result<ToolChoice, ReadError> {
    if let Some(word) = value.as_str() {
        return Ok(match word {
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            // Mistral uses `any`.
            "required" | "any" => ToolChoice::Required,
            _ => ToolChoice::Other(value),
        });
    }
    if !value.is_object() {
        return Err(ReadError::expected("a string or an object"));
    }
    let name = |value: &Value| Some(value.get("function")?.get("name")?.as_str()?.to_owned());
    match kind(&value) {
        Some("function") => Ok(name(&value).map_or(ToolChoice::Other(value), ToolChoice::Tool)),
        Some("allowed_tools") => {
            let allowed = value.get("allowed_tools");
            let tools = allowed.and_then(|allowed| allowed.get("tools")?.as_array());
            let names = tools.and_then(|tools| tools.iter().map(name).collect());
            let mode = allowed.and_then(|allowed| allowed.get("mode")?.as_str());
            let required = mode == Some("required");
            Ok(match names {
                Some(names) => ToolChoice::Among { names, required },
                None => ToolChoice::Other(value),
            })
        }
        _ => Ok(ToolChoice::Other(value)),
    }
}
