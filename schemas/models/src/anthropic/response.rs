//! Responses of Anthropic Messages, as one JSON document.

use serde_json::{Value, json};

use super::block;
use super::usage;
use crate::Wire;
use crate::conversation::{Answer, Finish, FinishReason, Response};
use crate::read::{Members, ReadError};
use crate::write::with;

pub(crate) fn read(body: Value) -> Result<Response, ReadError> {
    let mut members = Members::of(body)?;
    let mut response = head(&mut members)?;
    let blocks = members.each("content", block::block)?;
    let finish = finish(&mut members)?;
    if let Some(found) = members.object("usage")? {
        let raw = usage::read(found).map_err(|error| error.under("usage"))?;
        response.usage = Some(raw.sum());
    }
    response.answers = vec![Answer {
        blocks,
        finish,
        ..Answer::default()
    }];
    response.more = members.rest();
    Ok(response)
}

/// The members before the content.
pub(super) fn head(members: &mut Members) -> Result<Response, ReadError> {
    members.take("type");
    members.take("role");
    let mut response = Response::new(Wire::Anthropic);
    response.id = members.text("id")?;
    response.model = members.text("model")?;
    Ok(response)
}

pub(super) fn finish(members: &mut Members) -> Result<Option<Finish>, ReadError> {
    let sequence = members.text("stop_sequence")?;
    let Some(word) = members.text("stop_reason")? else {
        return Ok(None);
    };
    let reason = match word.as_str() {
        "end_turn" => FinishReason::Stop,
        "tool_use" => FinishReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::MaxTokens,
        "stop_sequence" => FinishReason::StopSequence,
        "refusal" => FinishReason::Refusal,
        "pause_turn" => FinishReason::Paused,
        _ => FinishReason::Other,
    };
    Ok(Some(Finish {
        reason,
        word,
        sequence,
    }))
}

/// The wire's word for a finish reason that comes from another wire.
pub(super) fn word(finish: &Finish) -> &str {
    match finish.reason {
        FinishReason::Stop => "end_turn",
        FinishReason::ToolUse => "tool_use",
        FinishReason::StopSequence => "stop_sequence",
        FinishReason::Paused => "pause_turn",
        FinishReason::Refusal | FinishReason::Filtered => "refusal",
        // Two words mean it.
        FinishReason::MaxTokens if finish.word != "model_context_window_exceeded" => "max_tokens",
        _ => &finish.word,
    }
}

pub(crate) fn write(response: &Response) -> Value {
    let blocks: Vec<Value> = response.blocks().iter().map(block::write).collect();
    let finish = response.finish();
    let mut value = json!({
        "id": response.id,
        "type": "message",
        "role": "assistant",
        "model": response.model,
        "content": blocks,
        "stop_reason": finish.map(word),
        "stop_sequence": finish.and_then(|finish| finish.sequence.as_deref()),
    });
    if let (Some(found), Value::Object(map)) = (&response.usage, &mut value) {
        map.insert("usage".into(), usage::write(found));
    }
    with(value, &response.more)
}
