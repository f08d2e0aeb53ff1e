//! Responses of Gemini, as one JSON document.

use serde_json::{Map, Value, json};

use super::{part, usage};
use crate::Wire;
use crate::conversation::{Answer, Finish, FinishReason, Response};
use crate::read::{Members, ReadError};
use crate::write::{put, with};

pub(crate) fn read(body: Value) -> Result<Response, ReadError> {
    let mut members = Members::of_proto(body)?;
    let mut response = head(&mut members)?;
    response.answers = members.each("candidates", candidate)?;
    response.usage = usage_of(&mut members)?;
    response.more = members.rest();
    Ok(blocked(response))
}

pub(super) fn head(members: &mut Members) -> Result<Response, ReadError> {
    let mut response = Response::new(Wire::Gemini);
    response.id = members.text("responseId")?;
    response.model = members.text("modelVersion")?;
    Ok(response)
}

pub(super) fn usage_of(
    members: &mut Members,
) -> Result<Option<crate::conversation::Usage>, ReadError> {
    let Some(found) = members.object("usageMetadata")? else {
        return Ok(None);
    };
    let usage = usage::read(found).map_err(|error| error.under("usageMetadata"))?;
    Ok(Some(usage))
}

/// A prompt that was refused has no candidates, and a separate reason.
pub(super) fn blocked(mut response: Response) -> Response {
    let feedback = response.more.get("promptFeedback");
    let reason = feedback.and_then(|feedback| feedback.get("blockReason")?.as_str());
    if let (true, Some(word)) = (response.answers.is_empty(), reason) {
        let finish = Finish {
            reason: FinishReason::Filtered,
            word: word.to_owned(),
            sequence: None,
        };
        response.answers.push(Answer {
            finish: Some(finish),
            ..Answer::default()
        });
    }
    response
}

fn candidate(value: Value) -> Result<Answer, ReadError> {
    let mut members = Members::of_proto(value)?;
    members.take("index");
    let mut answer = Answer::default();
    if let Some(mut content) = members.object("content")? {
        let parts = content.each("parts", part::read);
        answer.blocks = parts.map_err(|error| error.under("content"))?;
    }
    answer.finish = finish(&mut members, answer.has_tool_use())?;
    answer.more = members.rest();
    Ok(answer)
}

pub(super) fn finish(
    members: &mut Members,
    has_tool_use: bool,
) -> Result<Option<Finish>, ReadError> {
    let Some(word) = members.text("finishReason")? else {
        return Ok(None);
    };
    let reason = match word.as_str() {
        "STOP" if has_tool_use => FinishReason::ToolUse,
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::MaxTokens,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::Filtered,
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => {
            FinishReason::MalformedToolUse
        }
        _ => FinishReason::Other,
    };
    Ok(Some(Finish {
        reason,
        word,
        sequence: None,
    }))
}

/// The wire's word for a finish reason that comes from another wire.
pub(super) fn word(finish: &Finish) -> &str {
    let is_ours = finish
        .word
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    match finish.reason {
        _ if is_ours && !finish.word.is_empty() => &finish.word,
        FinishReason::MaxTokens => "MAX_TOKENS",
        FinishReason::Refusal | FinishReason::Filtered => "SAFETY",
        FinishReason::MalformedToolUse => "MALFORMED_FUNCTION_CALL",
        FinishReason::Failed | FinishReason::Other => "OTHER",
        _ => "STOP",
    }
}

pub(crate) fn write(response: &Response) -> Value {
    let candidates: Vec<Value> = candidates(response)
        .map(|(index, answer)| {
            let parts: Vec<Value> = answer.blocks.iter().map(part::write).collect();
            write_candidate(index, answer, &parts, true)
        })
        .collect();
    envelope(response, candidates, true)
}

/// The answers that are candidates, without the one for a refused prompt.
pub(super) fn candidates(response: &Response) -> impl Iterator<Item = (usize, &Answer)> {
    let is_blocked = response.more.contains_key("promptFeedback");
    let answers = response.answers.iter().enumerate();
    answers.filter(move |(_, answer)| !(is_blocked && answer.blocks.is_empty()))
}

pub(super) fn write_candidate(
    index: usize,
    answer: &Answer,
    parts: &[Value],
    is_last: bool,
) -> Value {
    let mut map = Map::new();
    map.insert("content".into(), json!({"role": "model", "parts": parts}));
    if is_last {
        put(&mut map, "finishReason", answer.finish.as_ref().map(word));
    }
    map.insert("index".into(), index.into());
    let value = Value::Object(map);
    if is_last {
        with(value, &answer.more)
    } else {
        value
    }
}

pub(super) fn envelope(response: &Response, candidates: Vec<Value>, is_last: bool) -> Value {
    let mut map = Map::new();
    if !candidates.is_empty() {
        map.insert("candidates".into(), Value::Array(candidates));
    }
    if is_last {
        put(
            &mut map,
            "usageMetadata",
            response.usage.as_ref().map(usage::write),
        );
    }
    put(&mut map, "modelVersion", response.model.as_deref());
    put(&mut map, "responseId", response.id.as_deref());
    with(Value::Object(map), &response.more)
}
