//! A response while it comes.

use super::{ApiError, Finish, Usage};

/// The effect of one event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The response has begun.
    Started,
    /// More text, or more of a refusal.
    Text {
        /// The index of the answer, from zero.
        answer: usize,
        /// The index of its block, from zero.
        block: usize,
        /// What was added.
        text: String,
    },
    /// More of a thought.
    Thinking {
        /// The index of the answer, from zero.
        answer: usize,
        /// The index of its block, from zero.
        block: usize,
        /// What was added.
        text: String,
    },
    /// A tool use begins; its arguments may follow.
    ToolUse {
        /// The index of the answer, from zero.
        answer: usize,
        /// The index of its block, from zero.
        block: usize,
        /// The name of the tool.
        name: String,
    },
    /// More of the arguments of a tool use, as text.
    Arguments {
        /// The index of the answer, from zero.
        answer: usize,
        /// The index of its block, from zero.
        block: usize,
        /// What was added.
        text: String,
    },
    /// Another kind of block has begun.
    Block {
        /// The index of the answer, from zero.
        answer: usize,
        /// The index of its block, from zero.
        block: usize,
    },
    /// The token counts known so far.
    Usage(Usage),
    /// An answer has ended.
    Finished {
        /// The index of the answer, from zero.
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
    /// Whether it is content of the model: the first such event is the first token.
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
    /// With the end that its wire requires.
    Complete,
    /// Before its wire's end: the response contains what was received so far.
    Truncated,
    /// With an error in the middle.
    Failed(ApiError),
}
