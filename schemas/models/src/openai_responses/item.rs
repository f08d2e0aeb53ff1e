//! Items: of an input, and of an output.

use serde_json::Value;

use super::content::contents;
use crate::conversation::{
    Block, Content, Extra, Input, Message, Role, Thinking, ToolResult, ToolUse,
};
use crate::read::{Members, ReadError};

/// Where a block keeps the members of the message item that begins with it.
pub(super) const MESSAGE: &str = "message";

/// The messages of an input. Adjacent items of a model are one message, and so are adjacent tool
/// results.
pub(super) fn messages(list: Vec<Value>) -> Result<Vec<Message>, ReadError> {
    let mut messages: Vec<Message> = Vec::new();
    for (at, value) in list.into_iter().enumerate() {
        let (role, blocks) = read(value).map_err(|error| error.under(&at.to_string()))?;
        let is_result = blocks.iter().all(Block::is_result);
        match messages.last_mut() {
            Some(before) if before.role == role && joins(role, is_result, before) => {
                before.blocks.extend(blocks);
            }
            _ => messages.push(Message::new(role, blocks)),
        }
    }
    Ok(messages)
}

fn joins(role: Role, is_result: bool, last: &Message) -> bool {
    match role {
        Role::Assistant => true,
        Role::User => is_result && last.blocks.last().is_some_and(Block::is_result),
        Role::System => false,
    }
}

/// The author of an item, and its content.
pub(super) fn read(value: Value) -> Result<(Role, Vec<Block>), ReadError> {
    if !value.is_object() {
        return Err(ReadError::expected("an object"));
    }
    let kind = value.get("type").and_then(Value::as_str);
    let kind = kind.or_else(|| value.get("role").map(|_| "message"));
    let kind = kind.unwrap_or_default().to_owned();
    Ok(match kind.as_str() {
        "message" => return message(Members::of(value)?),
        "function_call" | "custom_tool_call" => (
            Role::Assistant,
            vec![tool_use(value, kind == "custom_tool_call")?],
        ),
        "function_call_output" | "custom_tool_call_output" => (
            Role::User,
            vec![result(value, kind == "custom_tool_call_output")?],
        ),
        "reasoning" => (Role::Assistant, vec![reasoning(Members::of(value)?)?]),
        other => {
            let is_answer = other.ends_with("_output") || other.ends_with("_response");
            let role = if is_answer {
                Role::User
            } else {
                Role::Assistant
            };
            (role, vec![Block::new(Content::Other(value))])
        }
    })
}

fn message(mut members: Members) -> Result<(Role, Vec<Block>), ReadError> {
    members.take("type");
    let role = match members.needed_text("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" | "developer" => Role::System,
        _ => return Err(ReadError::expected("a known role").under("role")),
    };
    let mut blocks = match members.take("content") {
        Some(value) => contents(value).map_err(|error| error.under("content"))?,
        None => Vec::new(),
    };
    let rest = members.rest();
    if let (false, Some(first)) = (rest.is_empty(), blocks.first_mut()) {
        first.more.insert(MESSAGE.to_owned(), Value::Object(rest));
    }
    Ok((role, blocks))
}

fn tool_use(value: Value, is_custom: bool) -> Result<Block, ReadError> {
    let mut members = Members::of(value)?;
    if !is_custom {
        members.take("type");
    }
    let text = members.text(if is_custom { "input" } else { "arguments" })?;
    let text = text.unwrap_or_default();
    let input = if is_custom {
        Input::Text(text)
    } else {
        Input::of_text(text)
    };
    let tool = ToolUse {
        id: members.text("call_id")?,
        name: members.needed_text("name")?,
        input,
    };
    Ok(Block {
        content: Content::ToolUse(tool),
        more: members.rest(),
    })
}

fn result(value: Value, is_custom: bool) -> Result<Block, ReadError> {
    let mut members = Members::of(value)?;
    if !is_custom {
        members.take("type");
    }
    let content = match members.take("output") {
        Some(value) => contents(value).map_err(|error| error.under("output"))?,
        None => Vec::new(),
    };
    let result = ToolResult {
        id: members.text("call_id")?,
        name: None,
        is_error: false,
        content,
    };
    Ok(Block {
        content: Content::ToolResult(result),
        more: members.rest(),
    })
}

/// A thought: its summary, or its content if there is none. If either has several parts, they are
/// preserved next to the text.
fn reasoning(mut members: Members) -> Result<Block, ReadError> {
    members.take("type");
    let signature = members.text("encrypted_content")?;
    let summary = members.list("summary")?;
    let content = members.list("content")?;
    let mut more: Extra = members.rest();
    let text = if summary.is_empty() {
        texts(&content)
    } else {
        texts(&summary)
    };
    if summary.len() > 1 || summary.first().is_some_and(|part| !is_plain(part)) {
        more.insert("summary".into(), Value::Array(summary));
    }
    if !content.is_empty() {
        more.insert("content".into(), Value::Array(content));
    }
    Ok(Block {
        content: Content::Thinking(Thinking {
            text,
            signature,
            is_redacted: false,
        }),
        more,
    })
}

fn is_plain(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.len() == 2)
        && part.get("type").is_some_and(|kind| kind == "summary_text")
        && part
            .get("text")
            .is_some_and(|text| text.as_str().is_some_and(|text| !text.is_empty()))
}

fn texts(parts: &[Value]) -> String {
    let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n\n")
}
