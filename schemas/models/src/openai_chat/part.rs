//! Parts of the content of a message.

use serde_json::{Value, json};

use crate::conversation::{Block, Content, Media, MediaKind, Source, Thinking};
use crate::read::{Members, Problem, ReadError, data_url, each, kind, of_data_url};
use crate::write::with;

/// Content: a text, or parts; empty for an empty text.
pub(super) fn contents(value: Value) -> Result<Vec<Block>, ReadError> {
    match value {
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => Ok(vec![Block::text(text)]),
        Value::Array(list) => each(list, part),
        _ => Err(ReadError::expected("a string or a list of parts")),
    }
}

fn part(value: Value) -> Result<Block, ReadError> {
    if !value.is_object() {
        return Err(ReadError::expected("an object"));
    }
    let known = kind(&value).unwrap_or_default().to_owned();
    if !matches!(
        known.as_str(),
        "text" | "refusal" | "image_url" | "input_audio" | "file" | "thinking"
    ) {
        return Ok(Block::new(Content::Other(value)));
    }
    let mut members = Members::of(value)?;
    members.take("type");
    let content = match known.as_str() {
        "text" => Content::Text(members.needed_text("text")?),
        "refusal" => Content::Refusal(members.needed_text("refusal")?),
        "thinking" => return Ok(thinking(members)),
        "image_url" => image(&mut members)?,
        "input_audio" => within(&mut members, "input_audio", audio)?,
        _ => within(&mut members, "file", file)?,
    };
    let more = members.rest();
    Ok(Block { content, more })
}

/// Mistral's thoughts: a list of texts, which is preserved next to the joined text.
fn thinking(mut members: Members) -> Block {
    let parts = members.take("thinking").unwrap_or_default();
    let text = match &parts {
        Value::String(text) => text.clone(),
        parts => {
            let parts = parts.as_array().map(Vec::as_slice).unwrap_or_default();
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect()
        }
    };
    let mut more = members.rest();
    more.insert("thinking".into(), parts);
    Block {
        content: Content::Thinking(Thinking {
            text,
            ..Thinking::default()
        }),
        more,
    }
}

fn within(
    members: &mut Members,
    name: &str,
    read: fn(&mut Members) -> Result<Media, ReadError>,
) -> Result<Content, ReadError> {
    let found = members.object(name)?;
    let mut found = found.ok_or_else(|| ReadError::new(Problem::Missing).under(name))?;
    let media = read(&mut found).map_err(|error| error.under(name))?;
    Ok(Content::Media(media))
}

/// `{"url": …, "detail": …}`, or with Mistral the URL alone; the detail is preserved.
fn image(members: &mut Members) -> Result<Content, ReadError> {
    let url = match members.take("image_url") {
        Some(Value::String(url)) => url,
        Some(value) => {
            let mut inner = Members::of(value).map_err(|error| error.under("image_url"))?;
            let url = inner.needed_text("url");
            let url = url.map_err(|error| error.under("image_url"))?;
            members.put_all(inner.rest());
            url
        }
        None => return Err(ReadError::new(Problem::Missing).under("image_url")),
    };
    Ok(Content::Media(of_data_url(url, MediaKind::Image)))
}

fn audio(members: &mut Members) -> Result<Media, ReadError> {
    let format = members.text("format")?;
    Ok(Media {
        kind: MediaKind::Audio,
        mime: format.map(|format| format!("audio/{format}")),
        source: Source::Base64(members.needed_text("data")?),
    })
}

fn file(members: &mut Members) -> Result<Media, ReadError> {
    if let Some(id) = members.text("file_id")? {
        return Ok(Media {
            kind: MediaKind::Document,
            mime: None,
            source: Source::File(id),
        });
    }
    let url = members.needed_text("file_data")?;
    Ok(of_data_url(url, MediaKind::Document))
}

/// A part of a user's message; content that the wire does not support becomes text.
pub(super) fn write(block: &Block) -> Value {
    let known = match &block.content {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Refusal(text) => json!({"type": "refusal", "refusal": text}),
        Content::Json(value) => json!({"type": "text", "text": value.to_string()}),
        Content::Thinking(thinking) => return write_thinking(&thinking.text, block),
        Content::Media(media) => return write_media(media, block),
        Content::Other(value) => return value.clone(),
        Content::ToolUse(_) | Content::ToolResult(_) => return Value::Null,
    };
    with(known, &block.more)
}

fn write_thinking(text: &str, block: &Block) -> Value {
    let parts = json!([{"type": "text", "text": text}]);
    let parts = block.more.get("thinking").cloned().unwrap_or(parts);
    with(json!({"type": "thinking", "thinking": parts}), &block.more)
}

fn write_media(media: &Media, block: &Block) -> Value {
    match (media.kind, &media.source) {
        (MediaKind::Image, _) => {
            let Some(url) = data_url(media) else {
                return json!({"type": "text", "text": media_url(media)});
            };
            let image = with(json!({"url": url}), &block.more);
            json!({"type": "image_url", "image_url": image})
        }
        (MediaKind::Audio, Source::Base64(data)) => {
            let mime = media.mime.as_deref().unwrap_or("audio/wav");
            let format = mime.strip_prefix("audio/").unwrap_or(mime);
            let audio = json!({"data": data, "format": format});
            json!({"type": "input_audio", "input_audio": audio})
        }
        (MediaKind::Document, Source::File(id)) => {
            json!({"type": "file", "file": {"file_id": id}})
        }
        (MediaKind::Document, Source::Base64(_)) => {
            json!({"type": "file", "file": {"file_data": data_url(media)}})
        }
        (_, Source::Text(text)) => json!({"type": "text", "text": text}),
        _ => json!({"type": "text", "text": media_url(media)}),
    }
}

/// The text for a medium on a wire that does not support it.
pub(crate) fn media_url(media: &Media) -> String {
    match &media.source {
        Source::Url(url) => url.clone(),
        Source::Text(text) => text.clone(),
        Source::File(_) | Source::Base64(_) => {
            let mime = media.mime.as_deref().unwrap_or("file");
            format!("[{mime}, not shown]")
        }
    }
}
