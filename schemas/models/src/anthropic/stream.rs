//! Streams of Anthropic Messages: typed events, one block after the other.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{block, response, usage};
use crate::conversation::{Content, StreamEvent};
use crate::read::{Members, Problem, ReadError};
use crate::stream::{Draft, MAX_BLOCKS};
use crate::{Wire, errors};

/// The state of a stream.
#[derive(Debug, Default)]
pub(crate) struct State {
    // The wire's indices, and the positions of those blocks.
    blocks: BTreeMap<u64, usize>,
    usage: usage::Raw,
}

impl State {
    pub(crate) fn event(&mut self, draft: &mut Draft, value: Value) -> Result<(), ReadError> {
        let mut members = Members::of(value)?;
        match members.needed_text("type")?.as_str() {
            "message_start" => self.start(draft, &mut members),
            "content_block_start" => self.block(draft, &mut members),
            "content_block_delta" => self.delta(draft, &mut members),
            "content_block_stop" => {
                if let Some(at) = self.at(&mut members)? {
                    draft.settle(0, at);
                }
                Ok(())
            }
            "message_delta" => self.end(draft, &mut members),
            "message_stop" => {
                draft.ended();
                Ok(())
            }
            "error" => {
                let body = Value::Object(members.rest());
                draft.failed(errors::of_value(Wire::Anthropic, None, &body));
                Ok(())
            }
            // `ping`, and later additions to the wire.
            _ => Ok(()),
        }
    }

    fn start(&mut self, draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
        let Some(mut message) = members.object("message")? else {
            return Err(ReadError::new(Problem::Missing).under("message"));
        };
        self.message(draft, &mut message)
            .map_err(|error| error.under("message"))?;
        draft.response.more = message.rest();
        draft.events.push(StreamEvent::Started);
        draft.usage(self.usage.sum());
        Ok(())
    }

    fn message(&mut self, draft: &mut Draft, message: &mut Members) -> Result<(), ReadError> {
        draft.response = response::head(message)?;
        draft.answer(0)?;
        for value in message.list("content")? {
            draft.open(0, block::block(value)?)?;
        }
        response::finish(message)?;
        if let Some(found) = message.object("usage")? {
            self.usage = usage::read(found).map_err(|error| error.under("usage"))?;
        }
        Ok(())
    }

    fn block(&mut self, draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
        let index = members.count("index")?.unwrap_or(0);
        let found = members.take("content_block");
        let found = found.ok_or_else(|| ReadError::new(Problem::Missing).under("content_block"))?;
        let block = block::block(found).map_err(|error| error.under("content_block"))?;
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(Draft::too_many());
        }
        let at = draft.open(0, block)?;
        self.blocks.insert(index, at);
        Ok(())
    }

    fn at(&self, members: &mut Members) -> Result<Option<usize>, ReadError> {
        let index = members.count("index")?.unwrap_or(0);
        Ok(self.blocks.get(&index).copied())
    }

    fn delta(&self, draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
        let at = self.at(members)?;
        let at = at.ok_or_else(|| ReadError::expected("a block that has begun").under("index"))?;
        let Some(mut delta) = members.object("delta")? else {
            return Err(ReadError::new(Problem::Missing).under("delta"));
        };
        add(draft, at, &mut delta).map_err(|error| error.under("delta"))
    }

    fn end(&mut self, draft: &mut Draft, members: &mut Members) -> Result<(), ReadError> {
        if let Some(mut delta) = members.object("delta")? {
            let finish = response::finish(&mut delta).map_err(|error| error.under("delta"))?;
            if let Some(finish) = finish {
                draft.finish(0, finish)?;
            }
            draft.response.more.extend(delta.rest());
        }
        if let Some(found) = members.object("usage")? {
            let later = usage::read(found).map_err(|error| error.under("usage"))?;
            self.usage.update(later);
            draft.usage(self.usage.sum());
        }
        Ok(())
    }
}

fn add(draft: &mut Draft, at: usize, delta: &mut Members) -> Result<(), ReadError> {
    match delta.needed_text("type")?.as_str() {
        "text_delta" => draft.text(0, at, &delta.needed_text("text")?),
        "thinking_delta" => draft.text(0, at, &delta.needed_text("thinking")?),
        "signature_delta" => draft.signature(0, at, &delta.needed_text("signature")?),
        "input_json_delta" => draft.arguments(0, at, &delta.needed_text("partial_json")?),
        "citations_delta" => draft.append(0, at, "citations", delta.take("citation")),
        _ => Ok(()),
    }
}

/// Whether the arguments of a block follow as text.
pub(super) fn has_arguments(content: &Content) -> bool {
    match content {
        Content::ToolUse(_) => true,
        Content::Other(value) => value.get("input").is_some(),
        _ => false,
    }
}
