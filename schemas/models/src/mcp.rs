//! Converts MCP data to that of a model's wire.

use serde_json::Value;

use crate::conversation::{Block, Content, Extra, Media, MediaKind, Source, Tool, ToolResult};

/// A tool of `tools/list` under the name that the model is to use; `None` if it is not a tool.
#[must_use]
pub fn tool_of_mcp(name: &str, tool: &Value) -> Option<Tool> {
    tool.get("name")?.as_str()?;
    let description = tool.get("description").and_then(Value::as_str);
    Some(Tool {
        name: name.to_owned(),
        description: description.map(str::to_owned),
        schema: tool.get("inputSchema").cloned(),
        more: Extra::new(),
    })
}

/// The result of a `tools/call` for the tool use with this id: texts, images and audio, resources
/// with their text or their bytes, links as text. Structured content is only included if there is
/// nothing else.
#[must_use]
pub fn result_of_mcp(id: Option<String>, name: &str, result: &Value) -> ToolResult {
    let list = result.get("content").and_then(Value::as_array);
    let mut content: Vec<Block> = list.into_iter().flatten().map(block).collect();
    if let (true, Some(structured)) = (content.is_empty(), result.get("structuredContent")) {
        content.push(Block::new(Content::Json(structured.clone())));
    }
    ToolResult {
        id,
        name: Some(name.to_owned()),
        is_error: result.get("isError").and_then(Value::as_bool) == Some(true),
        content,
    }
}

fn block(item: &Value) -> Block {
    let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let found = match item.get("type").and_then(Value::as_str) {
        Some("text") => text(item, "text").map(Block::text),
        Some("image" | "audio") => {
            text(item, "data").map(|data| media(text(item, "mimeType"), data))
        }
        Some("resource") => item.get("resource").and_then(|resource| {
            let said = text(resource, "text").map(Block::text);
            let mime = || text(resource, "mimeType");
            said.or_else(|| text(resource, "blob").map(|blob| media(mime(), blob)))
        }),
        Some("resource_link") => text(item, "uri").map(|uri| {
            let name = text(item, "name").map_or_else(String::new, |name| format!("{name}: "));
            Block::text(format!("{name}{uri}"))
        }),
        _ => None,
    };
    // Unknown content is passed on as JSON.
    found.unwrap_or_else(|| Block::text(item.to_string()))
}

fn media(mime: Option<String>, data: String) -> Block {
    Block::new(Content::Media(Media {
        kind: MediaKind::of_mime(mime.as_deref().unwrap_or_default()),
        mime,
        source: Source::Base64(data),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_content_is_told() {
        let result = json!({"isError": true, "content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "aQ==", "mimeType": "image/png"},
            {"type": "audio", "data": "aQ==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "f:///a", "text": "b"}},
            {"type": "resource", "resource": {"uri": "f:///a", "blob": "aQ==", "mimeType": "application/pdf"}},
            {"type": "resource_link", "uri": "f:///a", "name": "n"},
            {"type": "new", "x": 1},
        ], "structuredContent": {"y": 1}});
        let told = result_of_mcp(Some("1".to_owned()), "f", &result);
        assert!(told.is_error);
        let texts: Vec<&str> = told.content.iter().filter_map(Block::as_text).collect();
        assert_eq!(texts, ["a", "b", "n: f:///a", r#"{"type":"new","x":1}"#]);
        let kinds: Vec<MediaKind> = told
            .content
            .iter()
            .filter_map(|block| match &block.content {
                Content::Media(media) => Some(media.kind),
                _ => None,
            })
            .collect();
        assert_eq!(
            kinds,
            [MediaKind::Image, MediaKind::Audio, MediaKind::Document]
        );
    }

    #[test]
    fn structured_content_stands_in_where_there_is_no_other() {
        let told = result_of_mcp(
            None,
            "f",
            &json!({"content": [], "structuredContent": {"y": 1}}),
        );
        assert_eq!(told.content, [Block::new(Content::Json(json!({"y": 1})))]);
        assert!(!told.is_error);
    }
}
