//! Adding up a stream, event by event.

use serde_json::Value;

use super::Draft;
use crate::conversation::{ApiError, Response, StreamEnd, StreamEvent};
use crate::read::{ReadError, json};
use crate::{Wire, anthropic, gemini, openai_chat, openai_responses};

/// Combines the events of one stream into the response that would have come without a stream.
///
/// Its memory is bounded by [`crate::MAX_BYTES`] in total.
#[derive(Debug)]
pub struct Fold {
    wire: Wire,
    draft: Draft,
    state: State,
}

#[derive(Debug)]
enum State {
    Anthropic(anthropic::State),
    Chat(openai_chat::State),
    Responses(openai_responses::State),
    Gemini(gemini::State),
}

/// A stream that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The response.
    pub response: Response,
    /// How it ended.
    pub end: StreamEnd,
}

impl Fold {
    /// Creates a fold at the start of a stream.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        let state = match wire {
            Wire::Anthropic => State::Anthropic(anthropic::State::default()),
            Wire::OpenAiChat => State::Chat(openai_chat::State::default()),
            Wire::OpenAiResponses => State::Responses(openai_responses::State::default()),
            Wire::Gemini => State::Gemini(gemini::State::default()),
        };
        Self {
            wire,
            draft: Draft::new(wire),
            state,
        }
    }

    /// Handles the data of the next event, and returns what it added. Every wire repeats the name
    /// of an event in its data, so the name is not a parameter.
    ///
    /// After an error the stream cannot be followed further; what was read before remains.
    pub fn event(&mut self, data: &[u8]) -> Result<Vec<StreamEvent>, ReadError> {
        let data = data.trim_ascii();
        if data.is_empty() {
            return Ok(Vec::new());
        }
        self.draft.keep(data.len())?;
        if data == b"[DONE]" {
            self.draft.settle_all();
            self.draft.ended();
        } else {
            self.value(json(data)?)?;
        }
        Ok(std::mem::take(&mut self.draft.events))
    }

    fn value(&mut self, value: Value) -> Result<(), ReadError> {
        match &mut self.state {
            State::Anthropic(state) => state.event(&mut self.draft, value),
            State::Chat(state) => state.event(&mut self.draft, value),
            State::Responses(state) => state.event(&mut self.draft, value),
            State::Gemini(state) => state.event(&mut self.draft, value),
        }
    }

    /// The response so far; it contains the arguments of a tool use once they are complete.
    #[must_use]
    pub fn response(&self) -> &Response {
        &self.draft.response
    }

    /// The error that the provider reported within the stream.
    #[must_use]
    pub fn error(&self) -> Option<&ApiError> {
        self.draft.failed.as_ref()
    }

    /// The stream has ended.
    #[must_use]
    pub fn finish(mut self) -> Ended {
        self.draft.settle_all();
        let end = if let Some(error) = self.draft.failed.take() {
            StreamEnd::Failed(error)
        } else if self.is_complete() {
            StreamEnd::Complete
        } else {
            StreamEnd::Truncated
        };
        Ended {
            response: self.draft.response,
            end,
        }
    }

    /// Whether the stream has the end that its wire requires. Chat Completions of some providers
    /// end without their mark, and Gemini has none: there every answer must have a finish reason.
    fn is_complete(&self) -> bool {
        let answers = &self.draft.response.answers;
        let all_finished = || answers.iter().all(|answer| answer.finish.is_some());
        match self.wire {
            Wire::Anthropic | Wire::OpenAiResponses => self.draft.is_ended,
            Wire::OpenAiChat => self.draft.is_ended || !answers.is_empty() && all_finished(),
            Wire::Gemini => !answers.is_empty() && all_finished(),
        }
    }
}
