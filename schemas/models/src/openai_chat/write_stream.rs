//! A response as the chunks of a Chat Completions stream.

use serde_json::{Map, Value, json};

use super::response::{split, word};
use super::usage::CHAT;
use super::{part, usage, write};
use crate::conversation::{Answer, Block, Content, Response};
use crate::stream::{Frame, pieces};
use crate::write::with;

/// The chunks, the token counts in a separate chunk, and the end mark.
pub(crate) fn write(response: &Response, piece: usize) -> Vec<Frame> {
    let mut chunks = Vec::new();
    for (index, answer) in response.answers.iter().enumerate() {
        for choice in choices(index, answer, piece) {
            chunks.push(chunk(response, &[choice]));
        }
    }
    if let Some(found) = &response.usage {
        let mut last = chunk(response, &[]);
        if let Value::Object(map) = &mut last {
            map.insert("usage".into(), usage::write(found, CHAT));
        }
        chunks.push(last);
    }
    let mut frames: Vec<Frame> = chunks.iter().map(|data| Frame::new(None, data)).collect();
    frames.push(Frame {
        event: None,
        data: "[DONE]".to_owned(),
    });
    frames
}

fn chunk(response: &Response, choices: &[Value]) -> Value {
    let value = json!({
        "id": response.id,
        "object": "chat.completion.chunk",
        "model": response.model,
        "choices": choices,
    });
    with(value, &response.more)
}

fn choices(index: usize, answer: &Answer, piece: usize) -> Vec<Value> {
    let (rest, message) = split(answer);
    let mut deltas = vec![with(json!({"role": "assistant", "content": ""}), &message)];
    let mut calls = 0;
    for block in &answer.blocks {
        block_deltas(block, piece, &mut calls, &mut deltas);
    }
    let choice = |delta: Value| json!({"index": index, "delta": delta, "finish_reason": null});
    let mut choices: Vec<Value> = deltas.into_iter().map(choice).collect();
    if let Some(first) = choices.first_mut() {
        *first = with(std::mem::take(first), &rest);
    }
    if let Some(finish) = &answer.finish {
        choices.push(json!({"index": index, "delta": {}, "finish_reason": word(finish)}));
    }
    choices
}

fn block_deltas(block: &Block, piece: usize, calls: &mut u64, deltas: &mut Vec<Value>) {
    let mut said = |name: &str, text: &str| {
        for piece in pieces(text, piece) {
            let mut delta = Map::new();
            delta.insert(name.to_owned(), piece.into());
            deltas.push(Value::Object(delta));
        }
    };
    match &block.content {
        Content::Text(text) => said("content", text),
        Content::Refusal(text) => said("refusal", text),
        Content::Thinking(thinking) => said("reasoning_content", &thinking.text),
        Content::ToolUse(tool) => {
            let mut begin = write::said(std::slice::from_ref(block));
            let begin = begin
                .get_mut("tool_calls")
                .and_then(|calls| calls.get_mut(0));
            let mut begin = begin.map(Value::take).unwrap_or_default();
            if let Some(Value::Object(function)) = begin.get_mut("function") {
                function.insert("arguments".into(), "".into());
            }
            if let Value::Object(map) = &mut begin {
                map.insert("index".into(), (*calls).into());
            }
            deltas.push(json!({"tool_calls": [begin]}));
            for piece in pieces(&tool.input.to_text(), piece) {
                let function = json!({"arguments": piece});
                deltas.push(json!({"tool_calls": [{"index": *calls, "function": function}]}));
            }
            *calls += 1;
        }
        Content::ToolResult(_) => {}
        Content::Media(_) | Content::Json(_) | Content::Other(_) => {
            deltas.push(json!({"content": [part::write(block)]}));
        }
    }
}
