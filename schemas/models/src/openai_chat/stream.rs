//! Streams of Chat Completions: chunks with deltas for each choice.

use std::collections::BTreeMap;

use serde_json::Value;

use super::usage::CHAT;
use super::{message, part, response, usage};
use crate::conversation::{Block, Content, Extra, Input, StreamEvent, Thinking, ToolUse};
use crate::read::{Members, ReadError, each};
use crate::stream::Draft;
use crate::{Wire, errors};

/// The state of a stream.
#[derive(Debug, Default)]
pub(crate) struct State {
    has_begun: bool,
    // The kind of the current text in each choice, and its block.
    texts: BTreeMap<(usize, Kind), usize>,
    // The wire's index of a tool call in each choice, and its block.
    calls: BTreeMap<(usize, u64), usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Thought,
    Text,
    Refusal,
}

impl State {
    pub(crate) fn event(&mut self, draft: &mut Draft, value: Value) -> Result<(), ReadError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            draft.failed(errors::of_value(Wire::OpenAiChat, None, &value));
            return Ok(());
        }
        let mut members = Members::of(value)?;
        let head = response::head(&mut members)?;
        if !self.has_begun {
            self.has_begun = true;
            let answers = std::mem::take(&mut draft.response.answers);
            draft.response = head;
            draft.response.answers = answers;
            draft.events.push(StreamEvent::Started);
        }
        let choices = members.list("choices")?;
        each(choices, |value| self.choice(draft, value)).map_err(|error| error.under("choices"))?;
        if let Some(found) = members.object("usage")? {
            let found = usage::read(found, CHAT).map_err(|error| error.under("usage"))?;
            draft.usage(found);
        }
        let mut more = members.rest();
        for noise in ["obfuscation", "p"] {
            more.shift_remove(noise);
        }
        draft.response.more.extend(more);
        Ok(())
    }

    fn choice(&mut self, draft: &mut Draft, value: Value) -> Result<(), ReadError> {
        let mut members = Members::of(value)?;
        let index = members.count("index")?.unwrap_or(0);
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        draft.answer(index)?;
        if let Some(delta) = members.object("delta")? {
            let rest = self.delta(draft, index, delta);
            let rest = rest.map_err(|error| error.under("delta"))?;
            if !rest.is_empty() {
                let more = &mut draft.answer(index)?.more;
                let message = more
                    .entry("message")
                    .or_insert_with(|| Value::Object(Extra::new()));
                if let Value::Object(message) = message {
                    merge(message, rest);
                }
            }
        }
        let finish = response::finish(&mut members)?;
        merge(&mut draft.answer(index)?.more, members.rest());
        if let Some(finish) = finish {
            draft.settle_answer(index);
            draft.finish(index, finish)?;
        }
        Ok(())
    }

    /// Adds a delta; returns the members that are not blocks.
    fn delta(
        &mut self,
        draft: &mut Draft,
        index: usize,
        mut delta: Members,
    ) -> Result<Extra, ReadError> {
        if let Some(text) = message::thought(&mut delta)? {
            self.text(draft, index, Kind::Thought, &text)?;
        }
        match delta.take("content") {
            Some(Value::String(text)) => self.text(draft, index, Kind::Text, &text)?,
            Some(parts) => {
                let blocks = part::contents(parts).map_err(|error| error.under("content"))?;
                self.parts(draft, index, blocks)?;
            }
            None => {}
        }
        if let Some(text) = delta.text("refusal")? {
            self.text(draft, index, Kind::Refusal, &text)?;
        }
        let calls = delta.list("tool_calls")?;
        each(calls, |value| self.call(draft, index, value))
            .map_err(|error| error.under("tool_calls"))?;
        Ok(message::rest(delta))
    }

    fn text(
        &mut self,
        draft: &mut Draft,
        index: usize,
        kind: Kind,
        text: &str,
    ) -> Result<(), ReadError> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(at) = self.texts.get(&(index, kind)) {
            return draft.text(index, *at, text);
        }
        let text = text.to_owned();
        let content = match kind {
            Kind::Text => Content::Text(text),
            Kind::Refusal => Content::Refusal(text),
            Kind::Thought => Content::Thinking(Thinking {
                text,
                ..Thinking::default()
            }),
        };
        let at = draft.open(index, Block::new(content))?;
        self.texts.insert((index, kind), at);
        Ok(())
    }

    /// Content in parts, as Mistral streams thoughts.
    fn parts(
        &mut self,
        draft: &mut Draft,
        index: usize,
        blocks: Vec<Block>,
    ) -> Result<(), ReadError> {
        for block in blocks {
            match &block.content {
                Content::Text(text) => self.text(draft, index, Kind::Text, text)?,
                Content::Thinking(thinking) => {
                    self.text(draft, index, Kind::Thought, &thinking.text)?;
                }
                _ => {
                    draft.open(index, block)?;
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, draft: &mut Draft, answer: usize, value: Value) -> Result<(), ReadError> {
        let mut members = Members::of(value)?;
        let index = members.count("index")?;
        let id = members.text("id")?.filter(|id| !id.is_empty());
        let mut function = members.object("function")?.unwrap_or_default();
        let name = function.text("name")?.filter(|name| !name.is_empty());
        let text = match function.take("arguments") {
            Some(Value::String(text)) => text,
            Some(value) => value.to_string(),
            None => String::new(),
        };
        members.take("type");
        let known = self.known(draft, answer, index, id.as_deref());
        let at = if let Some(at) = known {
            at
        } else {
            let tool = ToolUse {
                id,
                name: name.unwrap_or_default(),
                input: Input::Text(String::new()),
            };
            let more = members.rest();
            let content = Content::ToolUse(tool);
            let at = draft.open(answer, Block { content, more })?;
            self.calls.insert((answer, index.unwrap_or(at as u64)), at);
            at
        };
        draft.arguments(answer, at, &text)
    }

    /// The call that a delta belongs to. Some providers give no index, others the same one to
    /// every call: a new id is a new call.
    fn known(
        &self,
        draft: &mut Draft,
        answer: usize,
        index: Option<u64>,
        id: Option<&str>,
    ) -> Option<usize> {
        let at = match index {
            Some(index) => *self.calls.get(&(answer, index))?,
            None => {
                *self
                    .calls
                    .range((answer, 0)..=(answer, u64::MAX))
                    .next_back()?
                    .1
            }
        };
        let tool = draft.block(answer, at)?.as_tool_use()?;
        let is_other = id.is_some_and(|id| tool.id.as_deref().is_some_and(|known| known != id));
        (!is_other).then_some(at)
    }
}

/// Adds members; lists in objects grow, as `logprobs` do.
fn merge(into: &mut Extra, more: Extra) {
    for (name, value) in more {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(into)), Value::Object(more)) => {
                for (name, value) in more {
                    match (into.get_mut(&name), value) {
                        (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                        (_, value) => {
                            into.insert(name, value);
                        }
                    }
                }
            }
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}
