//! Writing items.

use serde_json::{Map, Value, json};

use super::content;
use super::item::MESSAGE;
use crate::conversation::{Block, Content, Message, Role, Thinking, ToolResult, ToolUse};
use crate::openai_chat::error_text;
use crate::write::{put, with};

/// The items of a message of an input.
pub(super) fn message(message: &Message, out: &mut Vec<Value>) {
    let role = match message.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "developer",
    };
    if message.blocks.is_empty() {
        out.push(json!({"type": "message", "role": role, "content": []}));
    }
    items(role, &message.blocks, out);
}

/// The items of a model's message, or of one to it.
pub(super) fn items(role: &str, blocks: &[Block], out: &mut Vec<Value>) {
    // Whether the last item is a message that can be extended.
    let mut is_open = false;
    for block in blocks {
        let item = match &block.content {
            Content::ToolUse(tool) => with(tool_use(tool, block), &block.more),
            Content::ToolResult(found) => with(result(found, block), &block.more),
            Content::Thinking(thinking) => with(reasoning(thinking, block), &block.more),
            Content::Other(value) if is_item(value) => value.clone(),
            _ => {
                part(role, block, is_open, out);
                is_open = true;
                continue;
            }
        };
        out.push(item);
        is_open = false;
    }
}

/// Items of a provider have a type that no part has.
fn is_item(value: &Value) -> bool {
    let kind = value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    kind.ends_with("_call")
        || kind.ends_with("_output")
        || kind.ends_with("_response")
        || kind.ends_with("_request")
        || matches!(
            kind,
            "item_reference" | "mcp_list_tools" | "compaction" | "tool_search"
        )
}

fn part(role: &str, block: &Block, is_open: bool, out: &mut Vec<Value>) {
    let part = content::write(block, role == "assistant");
    let head = block.more.get(MESSAGE).and_then(Value::as_object);
    if let (true, None, Some(last)) = (is_open, head, out.last_mut())
        && let Some(Value::Array(parts)) = last.get_mut("content")
    {
        parts.push(part);
        return;
    }
    let item = json!({"type": "message", "role": role, "content": [part]});
    out.push(with(item, head.unwrap_or(&Map::new())));
}

fn tool_use(tool: &ToolUse, block: &Block) -> Value {
    let text = tool.input.to_text();
    if block.more.contains_key("type") {
        return json!({"call_id": tool.id, "name": tool.name, "input": text});
    }
    json!({"type": "function_call", "call_id": tool.id, "name": tool.name, "arguments": text})
}

fn result(result: &ToolResult, block: &Block) -> Value {
    let output = match result.content.as_slice() {
        blocks if result.is_error => {
            let (media, texts): (Vec<&Block>, Vec<&Block>) = blocks
                .iter()
                .partition(|block| matches!(block.content, Content::Media(_)));
            let texts: Vec<Block> = texts.into_iter().cloned().collect();
            let text = error_text(&texts);
            if media.is_empty() {
                Value::String(text)
            } else {
                let first = content::write(&Block::text(text), false);
                let rest = media.into_iter().map(|block| content::write(block, false));
                std::iter::once(first).chain(rest).collect()
            }
        }
        [] => Value::String(String::new()),
        [
            Block {
                content: Content::Text(text),
                more,
            },
        ] if more.is_empty() => text.as_str().into(),
        [
            Block {
                content: Content::Json(value),
                ..
            },
        ] => value.to_string().into(),
        blocks => blocks
            .iter()
            .map(|block| content::write(block, false))
            .collect(),
    };
    let mut map = Map::new();
    if !block.more.contains_key("type") {
        map.insert("type".into(), "function_call_output".into());
    }
    put(&mut map, "call_id", result.id.as_deref());
    map.insert("output".into(), output);
    Value::Object(map)
}

fn reasoning(thinking: &Thinking, block: &Block) -> Value {
    let has_own = block.more.contains_key("summary") || block.more.contains_key("content");
    let summary = if thinking.text.is_empty() || has_own {
        json!([])
    } else {
        json!([{"type": "summary_text", "text": thinking.text}])
    };
    let mut map = Map::new();
    map.insert("type".into(), "reasoning".into());
    if !block.more.contains_key("summary") {
        map.insert("summary".into(), summary);
    }
    put(&mut map, "encrypted_content", thinking.signature.as_deref());
    Value::Object(map)
}
