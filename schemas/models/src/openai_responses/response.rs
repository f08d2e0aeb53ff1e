//! Responses as one JSON document.

use serde_json::{Map, Value, json};

use super::{USAGE, item, write};
use crate::Wire;
use crate::conversation::{Answer, Block, Content, Finish, FinishReason, Response};
use crate::openai_chat::{read_usage, write_usage};
use crate::read::{Members, ReadError, each};
use crate::write::{put, with};

pub(crate) fn read(body: Value) -> Result<Response, ReadError> {
    let mut members = Members::of(body)?;
    members.take("object");
    let mut response = Response::new(Wire::OpenAiResponses);
    response.id = members.text("id")?;
    response.model = members.text("model")?;
    let output = members.list("output")?;
    let items = each(output, item::read).map_err(|error| error.under("output"))?;
    let blocks: Vec<Block> = items.into_iter().flat_map(|(_, blocks)| blocks).collect();
    let finish = finish(&mut members, &blocks)?;
    if let Some(found) = members.object("usage")? {
        let usage = read_usage(found, USAGE).map_err(|error| error.under("usage"))?;
        response.usage = Some(usage);
    }
    response.answers = vec![Answer {
        blocks,
        finish,
        ..Answer::default()
    }];
    response.more = members.rest();
    Ok(response)
}

/// Why a response ended: its status, or the reason if it is incomplete.
fn finish(members: &mut Members, blocks: &[Block]) -> Result<Option<Finish>, ReadError> {
    let status = members.text("status")?.unwrap_or_default();
    let details = members.object("incomplete_details")?;
    let reason = match details {
        Some(mut details) => details.text("reason")?,
        None => None,
    };
    let ended = |reason, word: &str| {
        Some(Finish {
            reason,
            word: word.to_owned(),
            sequence: None,
        })
    };
    Ok(match (status.as_str(), reason.as_deref()) {
        ("completed", _) => ended(completed(blocks), "completed"),
        ("incomplete", Some("max_output_tokens")) => {
            ended(FinishReason::MaxTokens, "max_output_tokens")
        }
        ("incomplete", Some("content_filter")) => ended(FinishReason::Filtered, "content_filter"),
        ("incomplete", reason) => ended(FinishReason::Other, reason.unwrap_or("incomplete")),
        ("failed", _) => ended(FinishReason::Failed, "failed"),
        ("" | "in_progress" | "queued", _) => None,
        (other, _) => ended(FinishReason::Other, other),
    })
}

fn completed(blocks: &[Block]) -> FinishReason {
    if blocks.iter().any(|block| block.as_tool_use().is_some()) {
        FinishReason::ToolUse
    } else if blocks
        .iter()
        .any(|block| matches!(block.content, Content::Refusal(_)))
    {
        FinishReason::Refusal
    } else {
        FinishReason::Stop
    }
}

/// The status of an end, and the reason if it is incomplete.
fn status(finish: Option<&Finish>) -> (&str, Option<&str>) {
    let Some(finish) = finish else {
        return ("in_progress", None);
    };
    match finish.reason {
        FinishReason::MaxTokens => ("incomplete", Some("max_output_tokens")),
        FinishReason::Filtered => ("incomplete", Some("content_filter")),
        FinishReason::Failed => ("failed", None),
        FinishReason::Other if finish.word == "cancelled" => ("cancelled", None),
        FinishReason::Other => ("incomplete", Some(finish.word.as_str())),
        _ => ("completed", None),
    }
}

pub(crate) fn write(response: &Response) -> Value {
    let mut items = Vec::new();
    write::items("assistant", response.blocks(), &mut items);
    write_with(response, items, response.finish())
}

/// The name of the event that ends a stream with this response.
pub(super) fn last_event(response: &Response) -> &'static str {
    match status(response.finish()).0 {
        "incomplete" => "response.incomplete",
        "failed" => "response.failed",
        _ => "response.completed",
    }
}

pub(super) fn write_with(response: &Response, items: Vec<Value>, finish: Option<&Finish>) -> Value {
    let (status, reason) = status(finish);
    let mut map = Map::new();
    put(&mut map, "id", response.id.as_deref());
    map.insert("object".into(), "response".into());
    map.insert("status".into(), status.into());
    if let Some(reason) = reason {
        map.insert("incomplete_details".into(), json!({"reason": reason}));
    }
    put(&mut map, "model", response.model.as_deref());
    map.insert("output".into(), Value::Array(items));
    if finish.is_some() {
        let usage = response.usage.as_ref();
        put(
            &mut map,
            "usage",
            usage.map(|usage| write_usage(usage, USAGE)),
        );
    }
    with(Value::Object(map), &response.more)
}
