//! A response while it is being received.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::Wire;
use crate::conversation::{
    Answer, ApiError, Block, Content, Finish, Input, Response, StreamEvent, Usage,
};
use crate::read::{MAX_BYTES, Problem, ReadError};

/// The maximum number of blocks of one answer in a stream.
pub(crate) const MAX_BLOCKS: usize = 10_000;
/// The maximum number of answers of one response in a stream.
const MAX_ANSWERS: usize = 128;

/// The response so far, and what the last event added to it.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) response: Response,
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) failed: Option<ApiError>,
    pub(crate) is_ended: bool,
    // The arguments so far, as text, by answer and block.
    arguments: BTreeMap<(usize, usize), String>,
    kept: usize,
}

impl Draft {
    pub(crate) fn new(wire: Wire) -> Self {
        Self {
            response: Response::new(wire),
            events: Vec::new(),
            failed: None,
            is_ended: false,
            arguments: BTreeMap::new(),
            kept: 0,
        }
    }

    pub(crate) fn too_many() -> ReadError {
        ReadError::new(Problem::TooLong {
            limit: MAX_BLOCKS,
            unit: "blocks",
        })
    }

    /// Checks that there is room for the additions of an event of this many bytes.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.kept = self.kept.saturating_add(bytes);
        if self.kept > MAX_BYTES {
            return Err(ReadError::new(Problem::TooLong {
                limit: MAX_BYTES,
                unit: "bytes",
            }));
        }
        Ok(())
    }

    /// The answer with this number, which begins with the first word on it.
    pub(crate) fn answer(&mut self, index: usize) -> Result<&mut Answer, ReadError> {
        if index >= MAX_ANSWERS {
            return Err(ReadError::new(Problem::TooLong {
                limit: MAX_ANSWERS,
                unit: "answers",
            }));
        }
        let answers = &mut self.response.answers;
        while answers.len() <= index {
            answers.push(Answer::default());
        }
        // It is there by now.
        answers.get_mut(index).ok_or_else(Self::too_many)
    }

    /// Begins a block; returns its index.
    pub(crate) fn open(&mut self, answer: usize, block: Block) -> Result<usize, ReadError> {
        let name = block.as_tool_use().map(|tool| tool.name.clone());
        let said = match &block.content {
            Content::Text(text) | Content::Refusal(text) => Some((false, text.clone())),
            Content::Thinking(thinking) => Some((true, thinking.text.clone())),
            _ => None,
        };
        let blocks = &mut self.answer(answer)?.blocks;
        let at = blocks.len();
        if at >= MAX_BLOCKS {
            return Err(Self::too_many());
        }
        blocks.push(block);
        let event = match (name, said) {
            (Some(name), _) => StreamEvent::ToolUse {
                answer,
                block: at,
                name,
            },
            (None, Some((_, text))) if text.is_empty() => StreamEvent::Block { answer, block: at },
            (None, Some((is_thought, text))) => said_event(answer, at, is_thought, text),
            (None, None) => StreamEvent::Block { answer, block: at },
        };
        self.events.push(event);
        Ok(at)
    }

    pub(crate) fn block(&mut self, answer: usize, at: usize) -> Option<&mut Block> {
        self.response.answers.get_mut(answer)?.blocks.get_mut(at)
    }

    /// Adds to a text, a refusal or a thought.
    #[expect(clippy::unnecessary_wraps, reason = "one of several steps of one type")]
    pub(crate) fn text(&mut self, answer: usize, at: usize, text: &str) -> Result<(), ReadError> {
        let Some(block) = self.block(answer, at) else {
            return Ok(());
        };
        let is_thought = match &mut block.content {
            Content::Text(so_far) | Content::Refusal(so_far) => {
                so_far.push_str(text);
                false
            }
            Content::Thinking(thinking) => {
                thinking.text.push_str(text);
                true
            }
            _ => return Ok(()),
        };
        if !text.is_empty() {
            let event = said_event(answer, at, is_thought, text.to_owned());
            self.events.push(event);
        }
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "one of several steps of one type")]
    pub(crate) fn signature(
        &mut self,
        answer: usize,
        at: usize,
        text: &str,
    ) -> Result<(), ReadError> {
        if let Some(Block {
            content: Content::Thinking(thinking),
            ..
        }) = self.block(answer, at)
            && !text.is_empty()
        {
            thinking.signature.get_or_insert_default().push_str(text);
        }
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "one of several steps of one type")]
    pub(crate) fn arguments(
        &mut self,
        answer: usize,
        at: usize,
        text: &str,
    ) -> Result<(), ReadError> {
        if text.is_empty() {
            return Ok(());
        }
        let is_use = match self.block(answer, at).map(|block| &block.content) {
            Some(Content::ToolUse(_)) => true,
            Some(Content::Other(_)) => false,
            _ => return Ok(()),
        };
        self.arguments
            .entry((answer, at))
            .or_default()
            .push_str(text);
        if is_use {
            self.events.push(StreamEvent::Arguments {
                answer,
                block: at,
                text: text.to_owned(),
            });
        }
        Ok(())
    }

    /// Adds to a list in the further members of a block.
    #[expect(clippy::unnecessary_wraps, reason = "one of several steps of one type")]
    pub(crate) fn append(
        &mut self,
        answer: usize,
        at: usize,
        name: &str,
        value: Option<Value>,
    ) -> Result<(), ReadError> {
        if let (Some(value), Some(block)) = (value, self.block(answer, at)) {
            let list = block.more.entry(name).or_insert(Value::Null);
            match list {
                Value::Array(list) => list.push(value),
                list => *list = Value::Array(vec![value]),
            }
        }
        Ok(())
    }

    /// Completes the arguments of a block.
    pub(crate) fn settle(&mut self, answer: usize, at: usize) {
        let Some(text) = self.arguments.remove(&(answer, at)) else {
            return;
        };
        let Some(block) = self.block(answer, at) else {
            return;
        };
        match &mut block.content {
            Content::ToolUse(tool) => tool.input = Input::of_text(text),
            Content::Other(Value::Object(map)) => {
                let parsed = serde_json::from_str(&text);
                map.insert("input".into(), parsed.unwrap_or(Value::String(text)));
            }
            _ => {}
        }
    }

    /// No more arguments come for an answer.
    pub(crate) fn settle_answer(&mut self, answer: usize) {
        let range = (answer, 0)..=(answer, usize::MAX);
        let blocks: Vec<_> = self.arguments.range(range).map(|(at, _)| at.1).collect();
        for at in blocks {
            self.settle(answer, at);
        }
    }

    /// No more arguments come.
    pub(crate) fn settle_all(&mut self) {
        while let Some(((answer, at), _)) = self.arguments.first_key_value() {
            let (answer, at) = (*answer, *at);
            self.settle(answer, at);
        }
    }

    pub(crate) fn usage(&mut self, usage: Usage) {
        if usage != Usage::default() && self.response.usage.as_ref() != Some(&usage) {
            self.response.usage = Some(usage.clone());
            self.events.push(StreamEvent::Usage(usage));
        }
    }

    pub(crate) fn finish(&mut self, answer: usize, finish: Finish) -> Result<(), ReadError> {
        self.answer(answer)?.finish = Some(finish.clone());
        self.events.push(StreamEvent::Finished { answer, finish });
        Ok(())
    }

    pub(crate) fn failed(&mut self, error: ApiError) {
        self.events.push(StreamEvent::Failed(error.clone()));
        self.failed.get_or_insert(error);
    }

    pub(crate) fn ended(&mut self) {
        if !self.is_ended {
            self.is_ended = true;
            self.events.push(StreamEvent::Ended);
        }
    }
}

fn said_event(answer: usize, block: usize, is_thought: bool, text: String) -> StreamEvent {
    if is_thought {
        StreamEvent::Thinking {
            answer,
            block,
            text,
        }
    } else {
        StreamEvent::Text {
            answer,
            block,
            text,
        }
    }
}
