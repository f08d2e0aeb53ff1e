//! Blocks of Anthropic Messages.

use serde_json::{Value, json};

use crate::conversation::{
    Block, Content, Input, Media, MediaKind, Source, Thinking, ToolResult, ToolUse,
};
use crate::read::{Members, Problem, ReadError, each, kind};
use crate::write::with;

/// Content: a text, or blocks.
pub(super) fn contents(value: Value) -> Result<Vec<Block>, ReadError> {
    match value {
        Value::String(text) => Ok(vec![Block::text(text)]),
        Value::Array(list) => each(list, block),
        _ => Err(ReadError::expected("a string or a list of blocks")),
    }
}

pub(super) fn block(value: Value) -> Result<Block, ReadError> {
    if !value.is_object() {
        return Err(ReadError::expected("an object"));
    }
    let known = kind(&value).unwrap_or_default().to_owned();
    let source = value.get("source").and_then(kind);
    match known.as_str() {
        "text" | "thinking" | "redacted_thinking" | "tool_use" | "tool_result" => {}
        "image" | "document" if source != Some("content") => {}
        _ => return Ok(Block::new(Content::Other(value))),
    }
    let mut members = Members::of(value)?;
    members.take("type");
    let content = match known.as_str() {
        "text" => Content::Text(members.needed_text("text")?),
        "thinking" => Content::Thinking(Thinking {
            text: members.needed_text("thinking")?,
            signature: members.text("signature")?.filter(|text| !text.is_empty()),
            is_redacted: false,
        }),
        "redacted_thinking" => Content::Thinking(Thinking {
            text: String::new(),
            signature: Some(members.needed_text("data")?),
            is_redacted: true,
        }),
        "tool_use" => Content::ToolUse(ToolUse {
            id: members.text("id")?,
            name: members.needed_text("name")?,
            input: Input::Json(members.take("input").unwrap_or_else(|| json!({}))),
        }),
        "tool_result" => Content::ToolResult(result(&mut members)?),
        "image" => Content::Media(media(&mut members, MediaKind::Image)?),
        _ => Content::Media(media(&mut members, MediaKind::Document)?),
    };
    let more = members.rest();
    Ok(Block { content, more })
}

fn result(members: &mut Members) -> Result<ToolResult, ReadError> {
    let content = match members.take("content") {
        Some(value) => contents(value).map_err(|error| error.under("content"))?,
        None => Vec::new(),
    };
    Ok(ToolResult {
        id: members.text("tool_use_id")?,
        name: None,
        is_error: members.flag("is_error")?.unwrap_or(false),
        content,
    })
}

fn media(members: &mut Members, kind: MediaKind) -> Result<Media, ReadError> {
    let found = members.object("source")?;
    let mut source = found.ok_or_else(|| ReadError::new(Problem::Missing).under("source"))?;
    read_source(&mut source, kind).map_err(|error| error.under("source"))
}

fn read_source(source: &mut Members, kind: MediaKind) -> Result<Media, ReadError> {
    let mime = source.text("media_type")?;
    let source = match source.needed_text("type")?.as_str() {
        "base64" => Source::Base64(source.needed_text("data")?),
        "text" => Source::Text(source.needed_text("data")?),
        "url" => Source::Url(source.needed_text("url")?),
        "file" => Source::File(source.needed_text("file_id")?),
        _ => return Err(ReadError::expected("a known source").under("type")),
    };
    Ok(Media { kind, mime, source })
}

/// A block in the form of the wire; content that the wire does not support becomes text.
pub(super) fn write(block: &Block) -> Value {
    let known = match &block.content {
        Content::Text(text) | Content::Refusal(text) => json!({"type": "text", "text": text}),
        Content::Json(value) => json!({"type": "text", "text": value.to_string()}),
        Content::Thinking(thinking) => write_thinking(thinking),
        Content::ToolUse(tool) => write_use(tool),
        Content::ToolResult(result) => write_result(result),
        Content::Media(media) => write_media(media),
        Content::Other(value) => value.clone(),
    };
    with(known, &block.more)
}

fn write_thinking(thinking: &Thinking) -> Value {
    let signature = thinking.signature.as_deref().unwrap_or_default();
    if thinking.is_redacted {
        return json!({"type": "redacted_thinking", "data": signature});
    }
    json!({"type": "thinking", "thinking": thinking.text, "signature": signature})
}

fn write_use(tool: &ToolUse) -> Value {
    let input = match &tool.input {
        Input::Json(value) => value.clone(),
        Input::Text(text) if text.trim().is_empty() => json!({}),
        // The name is the provider's own, for returning invalid JSON.
        Input::Text(text) => json!({"INVALID_JSON": text}),
    };
    json!({"type": "tool_use", "id": tool.id, "name": tool.name, "input": input})
}

fn write_result(result: &ToolResult) -> Value {
    let mut value = json!({"type": "tool_result", "tool_use_id": result.id});
    if let Value::Object(map) = &mut value {
        if !result.content.is_empty() {
            let content = result.content.iter().map(write).collect();
            map.insert("content".into(), Value::Array(content));
        }
        if result.is_error {
            map.insert("is_error".into(), true.into());
        }
    }
    value
}

fn write_media(media: &Media) -> Value {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio | MediaKind::Video => {
            let mime = media.mime.as_deref().unwrap_or("media");
            return json!({"type": "text", "text": format!("[{mime}, not shown]")});
        }
    };
    let mut source = match &media.source {
        Source::Base64(data) => json!({"type": "base64", "data": data}),
        Source::Text(text) => json!({"type": "text", "data": text}),
        Source::Url(url) => json!({"type": "url", "url": url}),
        Source::File(id) => json!({"type": "file", "file_id": id}),
    };
    if let (Value::Object(map), Some(mime)) = (&mut source, &media.mime) {
        map.insert("media_type".into(), mime.as_str().into());
    }
    json!({"type": kind, "source": source})
}
