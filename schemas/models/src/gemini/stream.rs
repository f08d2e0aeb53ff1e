//! Streams of Gemini: each event is a response by itself, with the parts that are new.

use serde_json::Value;

use super::part::{self, SIGNATURE};
use super::response::{self, blocked, candidates, envelope, write_candidate};
use crate::conversation::{Answer, Block, Content, Response, StreamEvent};
use crate::read::{Members, ReadError, each};
use crate::stream::{Draft, Frame, pieces};
use crate::{Wire, errors};

/// The state of a stream.
#[derive(Debug, Default)]
pub(crate) struct State {
    has_begun: bool,
}

impl State {
    pub(crate) fn event(&mut self, draft: &mut Draft, value: Value) -> Result<(), ReadError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            draft.failed(errors::of_value(Wire::Gemini, None, &value));
            return Ok(());
        }
        let mut members = Members::of_proto(value)?;
        let head = response::head(&mut members)?;
        draft.response.id = head.id.or(draft.response.id.take());
        draft.response.model = head.model.or(draft.response.model.take());
        if !self.has_begun {
            self.has_begun = true;
            draft.events.push(StreamEvent::Started);
        }
        let found = members.list("candidates")?;
        each(found, |value| candidate(draft, value)).map_err(|error| error.under("candidates"))?;
        if let Some(usage) = response::usage_of(&mut members)? {
            draft.usage(usage);
        }
        draft.response.more.extend(members.rest());
        let response = std::mem::replace(&mut draft.response, Response::new(Wire::Gemini));
        draft.response = blocked(response);
        Ok(())
    }
}

fn candidate(draft: &mut Draft, value: Value) -> Result<(), ReadError> {
    let mut members = Members::of_proto(value)?;
    let index = members.count("index")?.unwrap_or(0);
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    draft.answer(index)?;
    if let Some(mut content) = members.object("content")? {
        let parts = content.each("parts", part::read);
        for block in parts.map_err(|error| error.under("content"))? {
            add(draft, index, block)?;
        }
    }
    let has_tool_use = draft.answer(index)?.has_tool_use();
    let finish = response::finish(&mut members, has_tool_use)?;
    draft.answer(index)?.more.extend(members.rest());
    match finish {
        Some(finish) => draft.finish(index, finish),
        None => Ok(()),
    }
}

/// Texts of one kind are joined. A part with a signature remains separate, as it must be when it is
/// returned; an empty text without one is skipped.
fn add(draft: &mut Draft, index: usize, block: Block) -> Result<(), ReadError> {
    let text = match &block.content {
        Content::Text(text) => Some(text.clone()),
        Content::Thinking(thinking) => Some(thinking.text.clone()),
        _ => None,
    };
    if let (Some(text), false) = (text, is_signed(&block)) {
        if text.is_empty() {
            return Ok(());
        }
        let blocks = &draft.answer(index)?.blocks;
        let at = blocks.len().saturating_sub(1);
        let last = blocks.last();
        let runs_on = last.is_some_and(|last| !is_signed(last) && is_alike(last, &block));
        if runs_on {
            return draft.text(index, at, &text);
        }
    }
    draft.open(index, block).map(|_| ())
}

fn is_signed(block: &Block) -> bool {
    match &block.content {
        Content::Thinking(thinking) => thinking.signature.is_some(),
        _ => block.more.contains_key(SIGNATURE),
    }
}

fn is_alike(one: &Block, other: &Block) -> bool {
    one.more == other.more
        && std::mem::discriminant(&one.content) == std::mem::discriminant(&other.content)
}

/// A response as the events of a stream, with texts split into pieces of this many characters.
pub(crate) fn write(response: &Response, piece: usize) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut told: Vec<(usize, &Answer)> = candidates(response).collect();
    let last = told.pop();
    for (index, answer) in told {
        for parts in parts(answer, piece) {
            let candidate = write_candidate(index, answer, &parts, false);
            frames.push(envelope(response, vec![candidate], false));
        }
        let end = write_candidate(index, answer, &[], true);
        frames.push(envelope(response, vec![end], false));
    }
    let mut end = Vec::new();
    if let Some((index, answer)) = last {
        let mut all = parts(answer, piece);
        let final_parts = all.pop().unwrap_or_default();
        for parts in all {
            let candidate = write_candidate(index, answer, &parts, false);
            frames.push(envelope(response, vec![candidate], false));
        }
        end.push(write_candidate(index, answer, &final_parts, true));
    }
    frames.push(envelope(response, end, true));
    frames.iter().map(|data| Frame::new(None, data)).collect()
}

/// The parts of each event.
fn parts(answer: &Answer, piece: usize) -> Vec<Vec<Value>> {
    let mut events = Vec::new();
    for block in &answer.blocks {
        let text = match &block.content {
            Content::Text(text) => text.as_str(),
            Content::Thinking(thinking) => thinking.text.as_str(),
            _ => "",
        };
        if text.is_empty() || is_signed(block) {
            events.push(vec![part::write(block)]);
            continue;
        }
        for piece in pieces(text, piece) {
            let mut part = part::write(block);
            if let Value::Object(map) = &mut part {
                map.insert("text".into(), piece.into());
            }
            events.push(vec![part]);
        }
    }
    events
}
