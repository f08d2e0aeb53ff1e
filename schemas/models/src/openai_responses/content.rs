//! Parts of the content of a message.

use serde_json::{Map, Value, json};

use crate::conversation::{Block, Content, Media, MediaKind, Source};
use crate::openai_chat::media_url;
use crate::read::{Members, Problem, ReadError, data_url, each, kind, of_data_url};
use crate::write::{put, with};

/// Content: a text, or parts.
pub(super) fn contents(value: Value) -> Result<Vec<Block>, ReadError> {
    match value {
        Value::String(text) => Ok(vec![Block::text(text)]),
        Value::Array(list) => each(list, part),
        _ => Err(ReadError::expected("a string or a list of parts")),
    }
}

pub(super) fn part(value: Value) -> Result<Block, ReadError> {
    if !value.is_object() {
        return Err(ReadError::expected("an object"));
    }
    let known = kind(&value).unwrap_or_default().to_owned();
    if !matches!(
        known.as_str(),
        "input_text"
            | "output_text"
            | "text"
            | "refusal"
            | "input_image"
            | "input_file"
            | "input_audio"
    ) {
        return Ok(Block::new(Content::Other(value)));
    }
    let mut members = Members::of(value)?;
    members.take("type");
    let content = match known.as_str() {
        "refusal" => Content::Refusal(members.needed_text("refusal")?),
        "input_image" => Content::Media(place(&mut members, "image_url", MediaKind::Image)?),
        "input_file" => Content::Media(place(&mut members, "file_data", MediaKind::Document)?),
        "input_audio" => Content::Media(audio(&mut members)?),
        _ => Content::Text(members.needed_text("text")?),
    };
    let mut more = members.rest();
    // Written whether there are any or not.
    more.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    Ok(Block { content, more })
}

fn place(members: &mut Members, data: &str, kind: MediaKind) -> Result<Media, ReadError> {
    if let Some(id) = members.text("file_id")? {
        return Ok(Media {
            kind,
            mime: None,
            source: Source::File(id),
        });
    }
    let url = members.text("file_url")?.or(members.text(data)?);
    let url = url.ok_or_else(|| ReadError::new(Problem::Missing).under(data))?;
    Ok(of_data_url(url, kind))
}

fn audio(members: &mut Members) -> Result<Media, ReadError> {
    let found = members.object("input_audio")?;
    let mut audio = found.ok_or_else(|| ReadError::new(Problem::Missing).under("input_audio"))?;
    let format = audio
        .text("format")
        .map_err(|error| error.under("input_audio"))?;
    let data = audio
        .needed_text("data")
        .map_err(|error| error.under("input_audio"))?;
    Ok(Media {
        kind: MediaKind::Audio,
        mime: format.map(|format| format!("audio/{format}")),
        source: Source::Base64(data),
    })
}

/// A part; the types of output and input parts differ.
pub(super) fn write(block: &Block, is_said: bool) -> Value {
    let name = if is_said { "output_text" } else { "input_text" };
    let text = |text: &str| json!({"type": name, "text": text});
    let known = match &block.content {
        Content::Text(said) => text(said),
        Content::Refusal(said) => json!({"type": "refusal", "refusal": said}),
        Content::Json(value) => text(&value.to_string()),
        Content::Thinking(thinking) => text(&thinking.text),
        Content::Media(media) => write_media(media),
        Content::Other(value) => value.clone(),
        Content::ToolUse(_) | Content::ToolResult(_) => Value::Null,
    };
    let mut more = block.more.clone();
    more.shift_remove(super::item::MESSAGE);
    with(known, &more)
}

fn write_media(media: &Media) -> Value {
    let (name, member) = match media.kind {
        MediaKind::Image => ("input_image", "image_url"),
        MediaKind::Document => ("input_file", "file_data"),
        MediaKind::Audio | MediaKind::Video => return write_sound(media),
    };
    let mut map = Map::new();
    map.insert("type".into(), name.into());
    match &media.source {
        Source::File(id) => put(&mut map, "file_id", Some(id.as_str())),
        Source::Url(url) if media.kind == MediaKind::Document => {
            put(&mut map, "file_url", Some(url.as_str()));
        }
        Source::Text(text) => return json!({"type": "input_text", "text": text}),
        Source::Url(_) | Source::Base64(_) => put(&mut map, member, data_url(media)),
    }
    Value::Object(map)
}

fn write_sound(media: &Media) -> Value {
    let mime = media.mime.as_deref().unwrap_or_default();
    match (&media.source, mime.strip_prefix("audio/")) {
        (Source::Base64(data), Some(format)) => {
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        _ => json!({"type": "input_text", "text": media_url(media)}),
    }
}
