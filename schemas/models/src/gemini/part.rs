//! Parts of a content.

use serde_json::{Map, Value, json};

use crate::conversation::{
    Block, Content, Input, Media, MediaKind, Source, Thinking, ToolResult, ToolUse,
};
use crate::openai_chat::{error_text, media_url};
use crate::read::{Members, ReadError};
use crate::write::{put, with};

/// The member next to a part's data if a model thought before it.
pub(super) const SIGNATURE: &str = "thoughtSignature";

pub(super) fn read(value: Value) -> Result<Block, ReadError> {
    let whole = value.clone();
    let mut members = Members::of_proto(value)?;
    let is_thought = members.flag("thought")?.unwrap_or(false);
    let signature = members.text(SIGNATURE)?;
    let content = if let Some(text) = members.text("text")? {
        if is_thought {
            return Ok(Block {
                content: Content::Thinking(Thinking {
                    text,
                    signature,
                    is_redacted: false,
                }),
                more: members.rest(),
            });
        }
        Content::Text(text)
    } else if let Some(call) = members.object("functionCall")? {
        Content::ToolUse(tool_use(call).map_err(|error| error.under("functionCall"))?)
    } else if let Some(found) = members.object("functionResponse")? {
        let (result, more) = result(found).map_err(|error| error.under("functionResponse"))?;
        members.put_all(more);
        Content::ToolResult(result)
    } else if let Some(data) = members.object("inlineData")? {
        let media = inline(data).map_err(|error| error.under("inlineData"))?;
        Content::Media(media)
    } else if let Some(data) = members.object("fileData")? {
        let media = file(data).map_err(|error| error.under("fileData"))?;
        Content::Media(media)
    } else {
        return Ok(Block::new(Content::Other(whole)));
    };
    let mut more = members.rest();
    put(&mut more, SIGNATURE, signature);
    Ok(Block { content, more })
}

fn tool_use(mut call: Members) -> Result<ToolUse, ReadError> {
    Ok(ToolUse {
        id: call.text("id")?,
        name: call.needed_text("name")?,
        input: Input::Json(call.take("args").unwrap_or_else(|| json!({}))),
    })
}

fn inline(mut data: Members) -> Result<Media, ReadError> {
    let mime = data.text("mimeType")?;
    Ok(Media {
        kind: MediaKind::of_mime(mime.as_deref().unwrap_or_default()),
        mime,
        source: Source::Base64(data.needed_text("data")?),
    })
}

fn file(mut data: Members) -> Result<Media, ReadError> {
    let mime = data.text("mimeType")?;
    Ok(Media {
        kind: MediaKind::of_mime(mime.as_deref().unwrap_or_default()),
        mime,
        source: Source::Url(data.needed_text("fileUri")?),
    })
}

/// The answer of a function: `output` and `error` are the provider's names for a result and a
/// failure; any other object is the answer itself.
fn result(mut found: Members) -> Result<(ToolResult, Map<String, Value>), ReadError> {
    let mut content = Vec::new();
    let mut is_error = false;
    match found.take("response") {
        Some(Value::Object(map)) => {
            let only = (map.len() == 1).then(|| map.iter().next()).flatten();
            match only {
                Some((name, Value::String(text))) if name == "output" => {
                    content.push(Block::text(text.as_str()));
                }
                Some((name, Value::String(text))) if name == "error" => {
                    is_error = true;
                    content.push(Block::text(text.as_str()));
                }
                _ => content.push(Block::new(Content::Json(Value::Object(map)))),
            }
        }
        Some(_) => return Err(ReadError::expected("an object").under("response")),
        None => {}
    }
    let media = found.each("parts", read)?;
    content.extend(media);
    let result = ToolResult {
        id: found.text("id")?,
        name: found.text("name")?,
        is_error,
        content,
    };
    Ok((result, found.rest()))
}

pub(super) fn write(block: &Block) -> Value {
    let known = match &block.content {
        Content::Text(text) | Content::Refusal(text) => json!({"text": text}),
        Content::Json(value) => json!({"text": value.to_string()}),
        Content::Thinking(thinking) => {
            let mut map = Map::new();
            map.insert("text".into(), thinking.text.as_str().into());
            map.insert("thought".into(), true.into());
            put(&mut map, SIGNATURE, thinking.signature.as_deref());
            Value::Object(map)
        }
        Content::ToolUse(tool) => {
            let mut map = Map::new();
            put(&mut map, "id", tool.id.as_deref());
            map.insert("name".into(), tool.name.as_str().into());
            let empty = || json!({});
            let text = || json!({"INVALID_JSON": tool.input.to_text()});
            let args = match &tool.input {
                Input::Json(value) => value.clone(),
                Input::Text(said) if said.trim().is_empty() => empty(),
                Input::Text(_) => text(),
            };
            map.insert("args".into(), args);
            json!({"functionCall": map})
        }
        Content::ToolResult(result) => return write_result(result, block),
        Content::Media(media) => write_media(media),
        Content::Other(value) => value.clone(),
    };
    with(known, &block.more)
}

fn write_media(media: &Media) -> Value {
    let mime = media.mime.as_deref();
    match &media.source {
        Source::Base64(data) => json!({"inlineData": {"mimeType": mime, "data": data}}),
        Source::Url(url) => {
            let mut map = Map::new();
            put(&mut map, "mimeType", mime);
            map.insert("fileUri".into(), url.as_str().into());
            json!({"fileData": map})
        }
        Source::Text(_) | Source::File(_) => json!({"text": media_url(media)}),
    }
}

fn write_result(result: &ToolResult, block: &Block) -> Value {
    let mut map = Map::new();
    put(&mut map, "id", result.id.as_deref());
    put(&mut map, "name", result.name.as_deref());
    let is_media = |block: &&Block| matches!(block.content, Content::Media(_));
    let (media, texts): (Vec<&Block>, Vec<&Block>) = result.content.iter().partition(is_media);
    map.insert("response".into(), response(&texts, result.is_error));
    if !media.is_empty() {
        let parts = media.into_iter().map(write).collect();
        map.insert("parts".into(), Value::Array(parts));
    }
    let mut more = block.more.clone();
    let signature = more.shift_remove(SIGNATURE);
    let mut part = Map::new();
    part.insert("functionResponse".into(), with(Value::Object(map), &more));
    put(&mut part, SIGNATURE, signature);
    Value::Object(part)
}

fn response(blocks: &[&Block], is_error: bool) -> Value {
    match blocks {
        [
            Block {
                content: Content::Json(value),
                ..
            },
        ] if !is_error && value.is_object() => value.clone(),
        [] if !is_error => json!({}),
        [one] if is_error => {
            let text = one.as_text().map(str::to_owned);
            json!({"error": text.unwrap_or_else(|| error_text(&[(*one).clone()]))})
        }
        blocks => {
            let texts: Vec<String> = blocks
                .iter()
                .map(|block| match &block.content {
                    Content::Text(text) => text.clone(),
                    Content::Json(value) => value.to_string(),
                    _ => String::new(),
                })
                .collect();
            let name = if is_error { "error" } else { "output" };
            let mut map = Map::new();
            map.insert(name.into(), texts.join("\n").into());
            Value::Object(map)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Problem;

    #[test]
    fn names_in_snake_case_are_the_same_names() {
        let block = read(json!({"function_call": {"name": "f", "args": {"a_b": 1}},
            "thought_signature": "s"}))
        .unwrap();
        assert_eq!(
            block.as_tool_use().unwrap().arguments(),
            Some(json!({"a_b": 1}))
        );
        assert_eq!(block.more.get(SIGNATURE), Some(&json!("s")));
    }

    #[test]
    fn a_failure_of_a_tool_is_told_under_the_name_that_the_provider_gives_it() {
        let part = json!({"functionResponse": {"name": "f", "response": {"error": "no"}}});
        let block = read(part.clone()).unwrap();
        assert!(matches!(&block.content, Content::ToolResult(result) if result.is_error));
        assert_eq!(write(&block), part);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let error = read(json!({"functionResponse": {"name": "f", "parts": [{"inlineData": {}}]}}));
        assert_eq!(
            error.unwrap_err(),
            ReadError::new(Problem::Missing)
                .under("data")
                .under("inlineData")
                .under("0")
                .under("parts")
                .under("functionResponse")
        );
    }
}
