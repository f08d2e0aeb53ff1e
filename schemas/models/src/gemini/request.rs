//! Requests of Gemini.

use serde_json::{Map, Value};

use super::part;
use crate::conversation::{Message, Request, Role, Sampling, Tool, ToolChoice, ToolSpec};
use crate::read::{Members, Problem, ReadError, each};
use crate::{Call, Wire};

pub(crate) fn read(call: &Call, body: Value) -> Result<Request, ReadError> {
    let mut members = Members::of_proto(body)?;
    let model = call.model.clone();
    let model = match model {
        Some(model) => model,
        None => members
            .text("model")?
            .ok_or_else(|| ReadError::new(Problem::Missing).under("model"))?,
    };
    let mut request = Request::new(Wire::Gemini, model);
    request.stream = call.stream.unwrap_or(false);
    if let Some(mut system) = members.object("systemInstruction")? {
        let parts = system.each("parts", part::read);
        request.system = parts.map_err(|error| error.under("systemInstruction"))?;
    }
    request.messages = members.each("contents", content)?;
    let tools = members.list("tools")?;
    let tools = each(tools, tools_of).map_err(|error| error.under("tools"))?;
    request.tools = tools.into_iter().flatten().collect();
    let mut kept = Vec::new();
    if let Some(mut config) = members.object("toolConfig")? {
        let choice = tool_choice(&mut config).map_err(|error| error.under("toolConfig"))?;
        request.tool_choice = choice;
        kept.push(("toolConfig", config.rest()));
    }
    if let Some(mut config) = members.object("generationConfig")? {
        let sampling = sampling(&mut config);
        request.sampling = sampling.map_err(|error| error.under("generationConfig"))?;
        kept.push(("generationConfig", config.rest()));
    }
    request.more = members.rest();
    for (name, rest) in kept {
        if !rest.is_empty() {
            request.more.insert(name.to_owned(), Value::Object(rest));
        }
    }
    Ok(request)
}

fn sampling(config: &mut Members) -> Result<Sampling, ReadError> {
    Ok(Sampling {
        max_tokens: config.count("maxOutputTokens")?,
        temperature: config.number("temperature")?,
        top_p: config.number("topP")?,
        top_k: config.count("topK")?,
        stop: config.texts("stopSequences")?,
        seed: config.integer("seed")?,
    })
}

fn content(value: Value) -> Result<Message, ReadError> {
    let mut members = Members::of_proto(value)?;
    let role = match members.text("role")?.as_deref() {
        None | Some("user" | "function") => Role::User,
        Some("model") => Role::Assistant,
        Some("system") => Role::System,
        Some(_) => return Err(ReadError::expected("`user` or `model`").under("role")),
    };
    let blocks = members.each("parts", part::read)?;
    let more = members.rest();
    Ok(Message { role, blocks, more })
}

/// The functions of one entry, and each built-in tool of the provider separately.
fn tools_of(value: Value) -> Result<Vec<ToolSpec>, ReadError> {
    let mut members = Members::of_proto(value)?;
    let mut tools = members.each("functionDeclarations", function)?;
    for (name, value) in members.rest() {
        let mut map = Map::new();
        map.insert(name, value);
        tools.push(ToolSpec::Builtin(Value::Object(map)));
    }
    Ok(tools)
}

fn function(value: Value) -> Result<ToolSpec, ReadError> {
    let mut members = Members::of_proto(value)?;
    let newer = members.take("parametersJsonSchema");
    Ok(ToolSpec::Function(Tool {
        name: members.needed_text("name")?,
        description: members.text("description")?,
        schema: newer.or_else(|| members.take("parameters")),
        more: members.rest(),
    }))
}

fn tool_choice(config: &mut Members) -> Result<Option<ToolChoice>, ReadError> {
    let Some(mut calling) = config.object("functionCallingConfig")? else {
        return Ok(None);
    };
    let mode = calling.text("mode")?;
    let names = calling.texts("allowedFunctionNames")?;
    let choice = match (mode.as_deref(), names.as_slice()) {
        (Some("NONE"), _) => ToolChoice::None,
        (Some("ANY"), []) => ToolChoice::Required,
        (Some("ANY"), [name]) => ToolChoice::Tool(name.clone()),
        (Some("ANY"), _) => ToolChoice::Among {
            names,
            required: true,
        },
        (Some("VALIDATED"), [_, ..]) => ToolChoice::Among {
            names,
            required: false,
        },
        (None | Some("AUTO" | "MODE_UNSPECIFIED"), []) => ToolChoice::Auto,
        (mode, names) => ToolChoice::Other(serde_json::json!({
            "mode": mode, "allowedFunctionNames": names,
        })),
    };
    Ok(Some(choice))
}
