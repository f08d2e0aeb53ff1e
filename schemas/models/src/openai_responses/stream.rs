//! Streams of Responses: typed events for items and their parts, and the whole at the end.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{item, response};
use crate::conversation::{Block, Content, Response, StreamEvent, Thinking};
use crate::read::{Members, Problem, ReadError};
use crate::stream::{Draft, MAX_BLOCKS};
use crate::{Wire, errors};

/// The state of a stream.
#[derive(Debug, Default)]
pub(crate) struct State {
    // The blocks of each item, by the wire's index of the item and of the part in it.
    blocks: BTreeMap<(u64, u64), usize>,
}

impl State {
    pub(crate) fn event(&mut self, draft: &mut Draft, value: Value) -> Result<(), ReadError> {
        let mut members = Members::of(value)?;
        let kind = members.needed_text("type")?;
        match kind.as_str() {
            "response.created" => start(draft, members),
            "response.output_item.added" | "response.output_item.done" => {
                self.item(draft, &mut members)
            }
            "response.output_text.delta"
            | "response.refusal.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning_summary_text.delta" => self.text(draft, &kind, &mut members),
            "response.reasoning_summary_part.added" => self.summary_part(draft, &mut members),
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let index = members.count("output_index")?.unwrap_or(0);
                let text = members.needed_text("delta")?;
                match self.blocks.get(&(index, 0)) {
                    Some(at) => draft.arguments(0, *at, &text),
                    None => {
                        Err(ReadError::expected("an item that has begun").under("output_index"))
                    }
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                finish(draft, &mut members)
            }
            "error" => {
                let body = Value::Object(members.rest());
                draft.failed(errors::of_value(Wire::OpenAiResponses, None, &body));
                Ok(())
            }
            // The end events of parts repeat their content; other events are about the provider's
            // progress.
            _ => Ok(()),
        }
    }

    /// An item begins, or has ended: then the event contains all of it.
    fn item(&mut self, draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
        let index = members.count("output_index")?.unwrap_or(0);
        let found = members.take("item");
        let found = found.ok_or_else(|| ReadError::new(Problem::Missing).under("item"))?;
        let (_, blocks) = item::read(found).map_err(|error| error.under("item"))?;
        for (part, block) in (0..).zip(blocks) {
            let Some(at) = self.blocks.get(&(index, part)).copied() else {
                self.open(draft, index, part, block)?;
                continue;
            };
            draft.settle(0, at);
            if let Some(known) = draft.block(0, at) {
                *known = block;
            }
        }
        Ok(())
    }

    fn open(
        &mut self,
        draft: &mut Draft,
        index: u64,
        part: u64,
        block: Block,
    ) -> Result<usize, ReadError> {
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(Draft::too_many());
        }
        let at = draft.open(0, block)?;
        self.blocks.insert((index, part), at);
        Ok(at)
    }

    fn text(
        &mut self,
        draft: &mut Draft,
        kind: &str,
        members: &mut Members,
    ) -> Result<(), ReadError> {
        let index = members.count("output_index")?.unwrap_or(0);
        let text = members.needed_text("delta")?;
        let is_thought = kind.starts_with("response.reasoning");
        // All parts of a thought are one block.
        let part = match members.count("content_index")? {
            Some(part) if !is_thought => part,
            _ => 0,
        };
        if let Some(at) = self.blocks.get(&(index, part)) {
            return draft.text(0, *at, &text);
        }
        let content = match kind {
            "response.output_text.delta" => Content::Text(text),
            "response.refusal.delta" => Content::Refusal(text),
            _ => Content::Thinking(Thinking {
                text,
                ..Thinking::default()
            }),
        };
        self.open(draft, index, part, Block::new(content))?;
        Ok(())
    }

    /// Parts of a summary are separated, as in a response without a stream.
    fn summary_part(&self, draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
        let index = members.count("output_index")?.unwrap_or(0);
        let is_first = members.count("summary_index")?.unwrap_or(0) == 0;
        match self.blocks.get(&(index, 0)) {
            Some(at) if !is_first => draft.text(0, *at, "\n\n"),
            _ => Ok(()),
        }
    }
}

fn whole(members: &mut Members) -> Result<Response, ReadError> {
    let found = members.take("response");
    let found = found.ok_or_else(|| ReadError::new(Problem::Missing).under("response"))?;
    response::read(found).map_err(|error| error.under("response"))
}

fn start(draft: &mut Draft, mut members: Members) -> Result<(), ReadError> {
    let head = whole(&mut members)?;
    draft.response.id = head.id;
    draft.response.model = head.model;
    draft.response.more = head.more;
    draft.answer(0)?;
    draft.events.push(StreamEvent::Started);
    Ok(())
}

/// The whole response. Some servers leave its output empty: then the items are used.
fn finish(draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
    let error = members
        .has("response")
        .then(|| members.take("response"))
        .flatten();
    let failure = error
        .as_ref()
        .and_then(|found| found.get("error"))
        .filter(|error| !error.is_null());
    let failure = failure.map(|error| errors::of_value(Wire::OpenAiResponses, None, error));
    if let Some(found) = error {
        members.put_all([("response".to_owned(), found)].into_iter().collect());
    }
    draft.settle_all();
    let mut told = whole(members)?;
    let usage = told.usage.take();
    let answer = told.answers.pop().unwrap_or_default();
    let mine = draft.answer(0)?;
    if !answer.blocks.is_empty() {
        mine.blocks = answer.blocks;
    }
    let blocks_have_use = mine.has_tool_use();
    let mut finish = answer.finish;
    if let Some(finish) = &mut finish
        && blocks_have_use
        && finish.word == "completed"
    {
        finish.reason = crate::conversation::FinishReason::ToolUse;
    }
    draft.response.id = told.id.or(draft.response.id.take());
    draft.response.model = told.model.or(draft.response.model.take());
    draft.response.more = told.more;
    if let Some(usage) = usage {
        draft.usage(usage);
    }
    if let Some(finish) = finish {
        draft.finish(0, finish)?;
    }
    if let Some(failure) = failure {
        draft.failed(failure);
    }
    draft.ended();
    Ok(())
}
