//! A model's answer.

use super::{Block, Extra, ToolUse, Usage};
use crate::Wire;

/// One answer of a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The wire that it travelled on.
    pub wire: Wire,
    /// The id that the provider gave it.
    pub id: Option<String>,
    /// The model that answered, in the provider's full spelling.
    pub model: Option<String>,
    /// The answers; several if several were requested, none if it was refused.
    pub answers: Vec<Answer>,
    /// The token counts; `None` if none were reported.
    pub usage: Option<Usage>,
    /// All other members of the body.
    pub more: Extra,
}

impl Response {
    /// An empty response.
    #[must_use]
    pub fn new(wire: Wire) -> Self {
        Self {
            wire,
            id: None,
            model: None,
            answers: Vec::new(),
            usage: None,
            more: Extra::new(),
        }
    }

    /// The blocks of the first answer.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        self.answers.first().map_or(&[], |answer| &answer.blocks)
    }

    /// Why the first answer ended; `None` when it has not.
    #[must_use]
    pub fn finish(&self) -> Option<&Finish> {
        self.answers.first()?.finish.as_ref()
    }

    /// The tools that the first answer asks for, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = &ToolUse> {
        self.blocks().iter().filter_map(Block::as_tool_use)
    }

    /// The text of the first answer, without its thoughts.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks().iter().filter_map(Block::as_text).collect()
    }
}

/// One answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its content.
    pub blocks: Vec<Block>,
    /// Why it ended; `None` when it has not.
    pub finish: Option<Finish>,
    /// All other members: `logprobs`, `safetyRatings`, … The members of a message of Chat
    /// Completions are under `message`.
    pub more: Extra,
}

impl Answer {
    pub(crate) fn has_tool_use(&self) -> bool {
        self.blocks
            .iter()
            .any(|block| block.as_tool_use().is_some())
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Its meaning.
    pub reason: FinishReason,
    /// The wire's word.
    pub word: String,
    /// The text that ended it, if one did and the wire reports it.
    pub sequence: Option<String>,
}

/// The meaning of a finish reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model finished.
    Stop,
    /// It waits for the results of tools.
    ToolUse,
    /// It was cut off at a limit.
    MaxTokens,
    /// It produced a stop sequence.
    StopSequence,
    /// It would not answer.
    Refusal,
    /// The provider blocked it.
    Filtered,
    /// It requests to be called again with its message so far.
    Paused,
    /// It asked for a tool in a way that could not be parsed.
    MalformedToolUse,
    /// The provider failed.
    Failed,
    /// A word that is unknown here.
    Other,
}

impl FinishReason {
    /// Its name in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::ToolUse => "tool use",
            Self::MaxTokens => "token limit",
            Self::StopSequence => "stop sequence",
            Self::Refusal => "refusal",
            Self::Filtered => "filtered",
            Self::Paused => "paused",
            Self::MalformedToolUse => "malformed tool use",
            Self::Failed => "failed",
            Self::Other => "other",
        }
    }
}
