//! Messages of a request, and the message of a response.

use serde_json::Value;

use super::part::contents;
use crate::conversation::{
    Block, Content, Extra, Input, Message, Role, Thinking, ToolResult, ToolUse,
};
use crate::read::{Members, ReadError, kind};

/// The instructions at the beginning, and the messages after them. Adjacent tool results are one
/// message.
pub(super) fn read(list: Vec<Value>) -> Result<(Vec<Block>, Vec<Message>), ReadError> {
    let mut system = Vec::new();
    let mut messages: Vec<Message> = Vec::new();
    for (at, value) in list.into_iter().enumerate() {
        let said = message(value).map_err(|error| error.under(&at.to_string()))?;
        if said.role == Role::System && messages.is_empty() && said.more.is_empty() {
            system.extend(said.blocks);
            continue;
        }
        let is_result = said.blocks.first().is_some_and(Block::is_result);
        match messages.last_mut() {
            Some(before) if is_result && before.blocks.first().is_some_and(Block::is_result) => {
                before.blocks.extend(said.blocks);
            }
            _ => messages.push(said),
        }
    }
    Ok((system, messages))
}

fn message(value: Value) -> Result<Message, ReadError> {
    let mut members = Members::of(value)?;
    let role = members.needed_text("role")?;
    let (role, blocks) = match role.as_str() {
        "system" | "developer" => (Role::System, content(&mut members)?),
        "user" => (Role::User, content(&mut members)?),
        "assistant" => (Role::Assistant, said(&mut members)?),
        "tool" | "function" => (Role::User, vec![result(&mut members)?]),
        _ => return Err(ReadError::expected("a known role").under("role")),
    };
    let more = members.rest();
    Ok(Message { role, blocks, more })
}

fn content(members: &mut Members) -> Result<Vec<Block>, ReadError> {
    match members.take("content") {
        Some(value) => contents(value).map_err(|error| error.under("content")),
        None => Ok(Vec::new()),
    }
}

fn result(members: &mut Members) -> Result<Block, ReadError> {
    Ok(Block::new(Content::ToolResult(ToolResult {
        id: members.text("tool_call_id")?,
        name: members.text("name")?,
        is_error: false,
        content: content(members)?,
    })))
}

/// A model's message: thoughts, text, refusal, tool uses.
pub(super) fn said(members: &mut Members) -> Result<Vec<Block>, ReadError> {
    let mut blocks = Vec::new();
    if let Some(text) = thought(members)? {
        blocks.push(Block::new(Content::Thinking(Thinking {
            text,
            ..Thinking::default()
        })));
    }
    blocks.extend(content(members)?);
    if let Some(text) = members.text("refusal")? {
        blocks.push(Block::new(Content::Refusal(text)));
    }
    blocks.extend(members.each("tool_calls", tool_use)?);
    Ok(blocks)
}

/// The compatible providers' member for thoughts; `OpenAI` does not return them.
pub(super) fn thought(members: &mut Members) -> Result<Option<String>, ReadError> {
    let found = members.text("reasoning_content")?;
    let other = members.text("reasoning")?;
    Ok(found.or(other).filter(|text| !text.is_empty()))
}

fn tool_use(value: Value) -> Result<Block, ReadError> {
    let is_custom = kind(&value) == Some("custom");
    let mut members = Members::of(value)?;
    let id = members.text("id")?.filter(|id| !id.is_empty());
    members.take("index");
    let (name, input) = if is_custom {
        let mut custom = members.object("custom")?.unwrap_or_default();
        (custom.needed_text("name"), custom.take("input"))
    } else {
        members.take("type");
        let mut function = members.object("function")?.unwrap_or_default();
        (function.needed_text("name"), function.take("arguments"))
    };
    let step = if is_custom { "custom" } else { "function" };
    let input = match input {
        Some(Value::String(text)) if is_custom => Input::Text(text),
        Some(Value::String(text)) => Input::of_text(text),
        Some(value) => Input::Json(value),
        None => Input::Text(String::new()),
    };
    Ok(Block {
        content: Content::ToolUse(ToolUse {
            id,
            name: name.map_err(|error| error.under(step))?,
            input,
        }),
        more: members.rest(),
    })
}

/// The members of a response's message other than its blocks.
pub(super) fn rest(mut members: Members) -> Extra {
    members.take("role");
    members.rest()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_of_tools_are_one_message_and_instructions_stand_apart() {
        let (system, messages) = read(vec![
            json!({"role": "developer", "content": "be brief"}),
            json!({"role": "user", "content": "go"}),
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{\"x"}},
            ]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "1"}),
            json!({"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]}),
            json!({"role": "system", "content": "now stop"}),
        ])
        .unwrap();
        assert_eq!(system, [Block::text("be brief")]);
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        assert_eq!(
            roles,
            [Role::User, Role::Assistant, Role::User, Role::System]
        );
        assert_eq!(messages[2].blocks.len(), 2);
        let uses: Vec<_> = messages[1]
            .blocks
            .iter()
            .filter_map(Block::as_tool_use)
            .collect();
        assert_eq!(uses[0].arguments(), Some(json!({"x": 1})));
        assert_eq!(uses[1].arguments(), None);
    }

    #[test]
    fn thoughts_of_compatible_providers_are_thoughts() {
        let (_, messages) = read(vec![
            json!({"role": "assistant", "content": "a", "reasoning_content": "t"}),
            json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                {"type": "text", "text": "a"},
            ]}),
        ])
        .unwrap();
        for message in messages {
            assert!(matches!(&message.blocks[0].content, Content::Thinking(t) if t.text == "t"));
            assert_eq!(message.blocks[1].as_text(), Some("a"));
        }
    }
}
