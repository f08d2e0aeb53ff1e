//! A response as the events of an Anthropic stream.

use serde_json::{Value, json};

use super::block;
use super::response::word;
use super::stream::has_arguments;
use super::usage;
use crate::conversation::{Block, Content, Input, Response};
use crate::stream::{Frame, pieces};
use crate::write::with;

/// The events; texts are split into pieces of this many characters.
pub(crate) fn write(response: &Response, piece: usize) -> Vec<Frame> {
    let mut frames = vec![start(response)];
    for (index, block) in response.blocks().iter().enumerate() {
        let (begin, deltas) = parts(block, piece);
        let begin = json!({
            "type": "content_block_start", "index": index, "content_block": begin,
        });
        frames.push(frame("content_block_start", &begin));
        for delta in deltas {
            let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
            frames.push(frame("content_block_delta", &delta));
        }
        let stop = json!({"type": "content_block_stop", "index": index});
        frames.push(frame("content_block_stop", &stop));
    }
    if let Some(finish) = response.finish() {
        let mut end = json!({
            "type": "message_delta",
            "delta": {"stop_reason": word(finish), "stop_sequence": finish.sequence},
        });
        if let (Some(found), Value::Object(map)) = (&response.usage, &mut end) {
            map.insert("usage".into(), usage::write(found));
        }
        frames.push(frame("message_delta", &end));
    }
    frames.push(frame("message_stop", &json!({"type": "message_stop"})));
    frames
}

fn frame(event: &'static str, data: &Value) -> Frame {
    Frame::new(Some(event), data)
}

fn start(response: &Response) -> Frame {
    let mut message = json!({
        "id": response.id,
        "type": "message",
        "role": "assistant",
        "model": response.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
    });
    if let (Some(found), Value::Object(map)) = (&response.usage, &mut message) {
        let mut early = found.clone();
        early.output = found.output.map(|count| count.min(1));
        early.reasoning = None;
        map.insert("usage".into(), usage::write(&early));
    }
    let message = with(message, &response.more);
    frame(
        "message_start",
        &json!({"type": "message_start", "message": message}),
    )
}

/// The beginning of a block, and what follows.
fn parts(block: &Block, piece: usize) -> (Value, Vec<Value>) {
    let mut begin = block::write(block);
    let mut deltas = Vec::new();
    let Value::Object(map) = &mut begin else {
        return (begin, deltas);
    };
    match &block.content {
        Content::Text(text) | Content::Refusal(text) => {
            map.insert("text".into(), "".into());
            let texts = pieces(text, piece);
            deltas.extend(texts.map(|text| json!({"type": "text_delta", "text": text})));
            if let Some(Value::Array(list)) = map.shift_remove("citations") {
                let cited = list.into_iter();
                deltas.extend(
                    cited.map(|citation| json!({"type": "citations_delta", "citation": citation})),
                );
            }
        }
        Content::Thinking(thinking) if !thinking.is_redacted => {
            map.insert("thinking".into(), "".into());
            map.insert("signature".into(), "".into());
            let texts = pieces(&thinking.text, piece);
            deltas.extend(texts.map(|text| json!({"type": "thinking_delta", "thinking": text})));
            if let Some(signature) = &thinking.signature {
                deltas.push(json!({"type": "signature_delta", "signature": signature}));
            }
        }
        content if has_arguments(content) => {
            let said = map.insert("input".into(), json!({}));
            let text = match content {
                Content::ToolUse(tool) => match &tool.input {
                    Input::Json(_) => tool.input.to_text(),
                    Input::Text(text) => text.clone(),
                },
                _ => said.unwrap_or_default().to_string(),
            };
            let texts = pieces(&text, piece);
            deltas.extend(
                texts.map(|text| json!({"type": "input_json_delta", "partial_json": text})),
            );
        }
        _ => {}
    }
    (begin, deltas)
}
