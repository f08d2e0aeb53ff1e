//! Responses of Chat Completions, as one JSON document.

use serde_json::{Map, Value, json};

use super::usage::CHAT;
use super::{message, usage, write};
use crate::Wire;
use crate::conversation::{Answer, Finish, FinishReason, Response};
use crate::read::{Members, Problem, ReadError};
use crate::write::with;

pub(crate) fn read(body: Value) -> Result<Response, ReadError> {
    let mut members = Members::of(body)?;
    let mut response = head(&mut members)?;
    response.answers = members.each("choices", choice)?;
    if let Some(found) = members.object("usage")? {
        let usage = usage::read(found, CHAT).map_err(|error| error.under("usage"))?;
        response.usage = Some(usage);
    }
    response.more = members.rest();
    Ok(response)
}

pub(super) fn head(members: &mut Members) -> Result<Response, ReadError> {
    members.take("object");
    let mut response = Response::new(Wire::OpenAiChat);
    response.id = members.text("id")?;
    response.model = members.text("model")?;
    Ok(response)
}

fn choice(value: Value) -> Result<Answer, ReadError> {
    let mut members = Members::of(value)?;
    members.take("index");
    let Some(mut said) = members.object("message")? else {
        return Err(ReadError::new(Problem::Missing).under("message"));
    };
    let blocks = message::said(&mut said).map_err(|error| error.under("message"))?;
    let finish = finish(&mut members)?;
    let mut more = members.rest();
    let rest = message::rest(said);
    if !rest.is_empty() {
        more.insert("message".into(), Value::Object(rest));
    }
    Ok(Answer {
        blocks,
        finish,
        more,
    })
}

pub(super) fn finish(members: &mut Members) -> Result<Option<Finish>, ReadError> {
    let Some(word) = members
        .text("finish_reason")?
        .filter(|word| !word.is_empty())
    else {
        return Ok(None);
    };
    let reason = match word.as_str() {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolUse,
        "length" | "model_length" => FinishReason::MaxTokens,
        "content_filter" => FinishReason::Filtered,
        "error" => FinishReason::Failed,
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
    match finish.reason {
        FinishReason::Stop | FinishReason::StopSequence | FinishReason::Paused => "stop",
        FinishReason::ToolUse if finish.word != "function_call" => "tool_calls",
        FinishReason::MaxTokens if finish.word != "model_length" => "length",
        FinishReason::Filtered => "content_filter",
        _ => &finish.word,
    }
}

/// Members of an answer: those of the choice, and those of its message.
pub(super) fn split(answer: &Answer) -> (Map<String, Value>, Map<String, Value>) {
    let mut choice = answer.more.clone();
    let message = match choice.shift_remove("message") {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    (choice, message)
}

pub(crate) fn write(response: &Response) -> Value {
    let choices: Vec<Value> = response
        .answers
        .iter()
        .enumerate()
        .map(|(index, answer)| {
            let (choice, rest) = split(answer);
            let mut message = with(write::said(&answer.blocks), &rest);
            if let Value::Object(map) = &mut message {
                map.insert("role".into(), "assistant".into());
            }
            let value = json!({
                "index": index,
                "message": message,
                "finish_reason": answer.finish.as_ref().map(word),
            });
            with(value, &choice)
        })
        .collect();
    let mut value = json!({
        "id": response.id,
        "object": "chat.completion",
        "model": response.model,
        "choices": choices,
    });
    if let (Some(found), Value::Object(map)) = (&response.usage, &mut value) {
        map.insert("usage".into(), usage::write(found, CHAT));
    }
    with(value, &response.more)
}
