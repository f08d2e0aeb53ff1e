//! A response while it comes.

use super::{ApiError, Finish, Usage};

/// What one event of a stream added.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The response has begun.
    Started,
    /// More text, or more of a refusal.
    Text {
        /// Which answer, from zero.
        answer: usize,
        /// Which block of it, from zero.
        block: usize,
        /// What was added.
        text: String,
    },
    /// More of a thought.
    Thinking {
        /// Which answer, from zero.
        answer: usize,
        /// Which block of it, from zero.
        block: usize,
        /// What was added.
        text: String,
    },
    /// A tool is asked for; its arguments may follow.
    ToolUse {
        /// Which answer, from zero.
        answer: usize,
        /// Which block of it, from zero.
        block: usize,
        /// The name of the tool.
        name: String,
    },
    /// More of the arguments of a tool use, as text.
    Arguments {
        /// Which answer, from zero.
        answer: usize,
        /// Which block of it, from zero.
        block: usize,
        /// What was added.
        text: String,
    },
    /// Another kind of block has begun.
    Block {
        /// Which answer, from zero.
        answer: usize,
        /// Which block of it, from zero.
        block: usize,
    },
    /// What is known of the tokens by now.
    Usage(Usage),
    /// An answer has ended.
    Finished {
        /// Which answer, from zero.
        answer: usize,
        /// Why.
        finish: Finish,
    },
    /// The provider reports an error in the middle of the stream.
    Failed(ApiError),
    /// The wire's own mark of the end.
    Ended,
}

impl StreamEvent {
    /// Whether it is something that the model said: the first such is the first token.
    #[must_use]
    pub fn is_said(&self) -> bool {
        matches!(
            self,
            Self::Text { .. }
                | Self::Thinking { .. }
                | Self::ToolUse { .. }
                | Self::Arguments { .. }
        )
    }
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEnd {
    /// As its wire demands.
    Complete,
    /// Before its wire's end: what was said so far stands in the response.
    Truncated,
    /// With an error in the middle.
    Failed(ApiError),
}
