//! One answer of a model, as recorded.

use serde_json::{Map, Value, json};

use crate::conversation::{Block, Content, FinishReason, Media, MediaKind, Response, Source};
use crate::write::{put, with};

/// One answer of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelReply {
    /// Its content other than tool uses, block by block, each an object with a `type`.
    pub content: Vec<Value>,
    /// The number of tools that it asks for.
    pub tool_calls: u64,
    /// Why it ended.
    pub ended: Ended,
    /// The model that answered, in the provider's full spelling.
    pub model: Option<String>,
    /// The time from the request to the end of the answer, in milliseconds.
    pub latency_ms: Option<u64>,
}

/// Why an answer ended, the same for every wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ended {
    /// The model finished, or produced a stop sequence.
    Stop,
    /// It waits for the results of tools.
    ToolUse,
    /// It was cut off at a limit.
    MaxTokens,
    /// Anything else.
    Other,
}

impl Ended {
    const ALL: [Self; 4] = [Self::Stop, Self::ToolUse, Self::MaxTokens, Self::Other];

    /// Its name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::Other => "other",
        }
    }

    /// The reason with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ended| ended.name() == name)
    }

    /// The variant for the end of an answer on any wire.
    #[must_use]
    pub fn of(reason: FinishReason) -> Self {
        match reason {
            FinishReason::Stop | FinishReason::StopSequence => Self::Stop,
            FinishReason::ToolUse => Self::ToolUse,
            FinishReason::MaxTokens => Self::MaxTokens,
            FinishReason::Refusal
            | FinishReason::Filtered
            | FinishReason::Paused
            | FinishReason::MalformedToolUse
            | FinishReason::Failed
            | FinishReason::Other => Self::Other,
        }
    }
}

impl ModelReply {
    /// The first answer of a response, with its duration in milliseconds.
    #[must_use]
    pub fn of(response: &Response, latency_ms: Option<u64>) -> Self {
        let asks = response.tool_uses().next().is_some();
        let ended = response.finish().map(|finish| Ended::of(finish.reason));
        // A stream that broke off has not ended.
        let ended = ended.unwrap_or(Ended::Other);
        Self {
            content: response.blocks().iter().filter_map(block).collect(),
            tool_calls: response.tool_uses().count() as u64,
            // Some servers report `stop` with tool uses.
            ended: if asks && ended == Ended::Stop {
                Ended::ToolUse
            } else {
                ended
            },
            model: response.model.clone(),
            latency_ms,
        }
    }
}

/// A block as an object with a `type`; `None` for a tool use, and for a text that is empty.
fn block(block: &Block) -> Option<Value> {
    let value = match &block.content {
        Content::ToolUse(_) => return None,
        Content::Text(text) if text.is_empty() => return None,
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Refusal(text) => json!({"type": "refusal", "refusal": text}),
        Content::Json(value) => json!({"type": "json", "json": value}),
        Content::Media(media) => of_media(media),
        Content::Thinking(thinking) => {
            let mut map = Map::new();
            map.insert("type".to_owned(), "thinking".into());
            map.insert("thinking".to_owned(), thinking.text.as_str().into());
            put(&mut map, "signature", thinking.signature.as_deref());
            Value::Object(map)
        }
        Content::ToolResult(result) => {
            let content: Vec<Value> = result.content.iter().filter_map(self::block).collect();
            json!({"type": "tool_result", "content": content, "is_error": result.is_error})
        }
        Content::Other(value) if value.get("type").is_some_and(Value::is_string) => value.clone(),
        Content::Other(value) => json!({"type": "other", "value": value}),
    };
    Some(with(value, &block.more))
}

fn of_media(media: &Media) -> Value {
    let kind = match media.kind {
        MediaKind::Image => "image",
        MediaKind::Document => "document",
        MediaKind::Audio => "audio",
        MediaKind::Video => "video",
    };
    let (place, data) = match &media.source {
        Source::Base64(data) => ("data", data),
        Source::Text(text) => ("text", text),
        Source::Url(url) => ("url", url),
        Source::File(file) => ("file", file),
    };
    let mut map = Map::new();
    map.insert("type".to_owned(), kind.into());
    put(&mut map, "mimeType", media.mime.as_deref());
    map.insert(place.to_owned(), data.as_str().into());
    Value::Object(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Wire;

    fn read(wire: Wire, body: &Value) -> ModelReply {
        let response = wire.read_response(body.to_string().as_bytes());
        ModelReply::of(&response.expect("a response"), Some(12))
    }

    #[test]
    fn every_wire_has_its_words_for_how_an_answer_ended() {
        let anthropic =
            |word: &str| json!({"content": [], "stop_reason": word, "role": "assistant"});
        let chat = |word: &str| json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": word}]});
        let gemini = |word: &str| json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": word}]});
        for (wire, body, wanted) in [
            (Wire::Anthropic, anthropic("end_turn"), Ended::Stop),
            (Wire::Anthropic, anthropic("stop_sequence"), Ended::Stop),
            (Wire::Anthropic, anthropic("tool_use"), Ended::ToolUse),
            (Wire::Anthropic, anthropic("max_tokens"), Ended::MaxTokens),
            (Wire::Anthropic, anthropic("refusal"), Ended::Other),
            (Wire::OpenAiChat, chat("stop"), Ended::Stop),
            (Wire::OpenAiChat, chat("tool_calls"), Ended::ToolUse),
            (Wire::OpenAiChat, chat("length"), Ended::MaxTokens),
            (Wire::OpenAiChat, chat("content_filter"), Ended::Other),
            (Wire::Gemini, gemini("STOP"), Ended::Stop),
            (Wire::Gemini, gemini("MAX_TOKENS"), Ended::MaxTokens),
            (Wire::Gemini, gemini("SAFETY"), Ended::Other),
        ] {
            assert_eq!(read(wire, &body).ended, wanted, "{body}");
        }
        let calls = json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}]});
        assert_eq!(read(Wire::Gemini, &calls).ended, Ended::ToolUse);
    }

    #[test]
    fn other_blocks_are_kept_whole_and_tools_are_counted() {
        let body = json!({"model": "m-1", "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "look", "citations": [{"cited_text": "c"}]},
            {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"query": "q"}},
            {"type": "tool_use", "id": "2", "name": "f", "input": {"a": 1}},
        ]});
        let said = read(Wire::Anthropic, &body);
        assert_eq!((said.tool_calls, said.model.as_deref()), (1, Some("m-1")));
        assert_eq!(said.latency_ms, Some(12));
        assert_eq!(
            Value::from(said.content),
            json!([
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "look", "citations": [{"cited_text": "c"}]},
                {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"query": "q"}},
            ])
        );
    }
}
