//! What a model answers.

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
    /// What it answered; more than one where more were asked for, none where it was refused.
    pub answers: Vec<Answer>,
    /// The tokens that it took; `None` where nothing was said of them.
    pub usage: Option<Usage>,
    /// Whatever else the body says.
    pub more: Extra,
}

impl Response {
    /// A response that says nothing yet.
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
    /// What it says.
    pub blocks: Vec<Block>,
    /// Why it ended; `None` when it has not.
    pub finish: Option<Finish>,
    /// Whatever else is said of it: `logprobs`, `safetyRatings`, … What Chat Completions
    /// says of the message stands under `message`.
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
    /// What it means.
    pub reason: FinishReason,
    /// The word of the wire.
    pub word: String,
    /// The text that ended it, where one did and the wire says which.
    pub sequence: Option<String>,
}

/// What the end of an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model had said all.
    Stop,
    /// It waits for the results of tools.
    ToolUse,
    /// It was cut off at a limit.
    MaxTokens,
    /// It said a text that was asked to end it.
    StopSequence,
    /// It would not answer.
    Refusal,
    /// The provider would not let it.
    Filtered,
    /// It wants to be asked again with what it has said so far.
    Paused,
    /// It asked for a tool in a way that could not be read.
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
