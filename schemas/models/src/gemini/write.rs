//! Writing requests of Gemini.

use serde_json::{Map, Value, json};

use super::part;
use crate::conversation::{Block, Message, Request, Role, Tool, ToolChoice, ToolSpec};
use crate::write::{put, with};

pub(crate) fn write(request: &Request) -> Value {
    let mut map = Map::new();
    if !request.system.is_empty() {
        map.insert(
            "systemInstruction".into(),
            json!({"parts": parts(&request.system)}),
        );
    }
    let contents: Vec<Value> = request.messages.iter().map(content).collect();
    map.insert("contents".into(), Value::Array(contents));
    let tools = tools(&request.tools);
    if !tools.is_empty() {
        map.insert("tools".into(), Value::Array(tools));
    }
    if let Some(choice) = &request.tool_choice {
        let mut config = json!({"functionCallingConfig": calling(choice)});
        if let Some(Value::Object(rest)) = request.more.get("toolConfig") {
            config = with(config, rest);
        }
        map.insert("toolConfig".into(), config);
    }
    let mut config = generation(request);
    if let Some(Value::Object(rest)) = request.more.get("generationConfig") {
        config = with(config, rest);
    }
    if config.as_object().is_some_and(|config| !config.is_empty()) {
        map.insert("generationConfig".into(), config);
    }
    with(Value::Object(map), &request.more)
}

fn parts(blocks: &[Block]) -> Vec<Value> {
    blocks.iter().map(part::write).collect()
}

fn content(message: &Message) -> Value {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "model",
        Role::System => "system",
    };
    with(
        json!({"role": role, "parts": parts(&message.blocks)}),
        &message.more,
    )
}

fn tools(tools: &[ToolSpec]) -> Vec<Value> {
    let mut functions = Vec::new();
    let mut builtin = Vec::new();
    for tool in tools {
        match tool {
            ToolSpec::Function(tool) => functions.push(function(tool)),
            ToolSpec::Builtin(value) => builtin.push(value.clone()),
        }
    }
    if !functions.is_empty() {
        builtin.insert(0, json!({"functionDeclarations": functions}));
    }
    builtin
}

fn function(tool: &Tool) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), tool.name.as_str().into());
    put(&mut map, "description", tool.description.as_deref());
    put(&mut map, "parametersJsonSchema", tool.schema.clone());
    with(Value::Object(map), &tool.more)
}

fn calling(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
        ToolChoice::Among { names, required } => {
            let mode = if *required { "ANY" } else { "VALIDATED" };
            json!({"mode": mode, "allowedFunctionNames": names})
        }
        ToolChoice::Other(value) => value.clone(),
    }
}

fn generation(request: &Request) -> Value {
    let sampling = &request.sampling;
    let mut map = Map::new();
    put(&mut map, "maxOutputTokens", sampling.max_tokens);
    put(&mut map, "temperature", sampling.temperature);
    put(&mut map, "topP", sampling.top_p);
    put(&mut map, "topK", sampling.top_k);
    if !sampling.stop.is_empty() {
        map.insert("stopSequences".into(), sampling.stop.clone().into());
    }
    put(&mut map, "seed", sampling.seed);
    Value::Object(map)
}
