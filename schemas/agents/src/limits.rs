//! The most that a run may do, and which of it stopped one.

use std::time::Duration;

use tapewright_models::agent_cassette::StopReason;

/// The caps of one agent test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of answers of the model for one turn of the user.
    pub max_turns: u64,
    /// The maximum number of tokens of one answer.
    pub max_tokens: u64,
    /// The maximum number of tokens of the whole run.
    pub token_budget: Option<u64>,
    /// The maximum number of tool calls of the whole run.
    pub max_tool_calls: Option<u64>,
    /// The longest that the run may take.
    pub time_budget: Option<Duration>,
}

/// The cap that stopped a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trip {
    /// The model still asked for tools in its last turn.
    #[error("`max_turns`: the model still asked for tools after {0} turns")]
    Turns(u64),
    /// The run took more tokens.
    #[error("`token_budget`: the run took {used} tokens; at most {limit} are allowed")]
    Tokens {
        /// The cap.
        limit: u64,
        /// How much was used.
        used: u64,
    },
    /// The model asked for another call.
    #[error("`max_tool_calls`: the model asked for more than {0} tool calls")]
    ToolCalls(u64),
    /// The time was over.
    #[error("`time_budget`: the run was not over after {} ms", .0.as_millis())]
    Time(Duration),
}

impl Trip {
    /// The reason as recorded in the trace.
    #[must_use]
    pub fn reason(&self) -> StopReason {
        match self {
            Self::Turns(_) => StopReason::TurnBudget,
            Self::Tokens { .. } => StopReason::TokenBudget,
            Self::ToolCalls(_) => StopReason::ToolCallBudget,
            Self::Time(_) => StopReason::TimeBudget,
        }
    }

    /// The key of the cap in the suite.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Turns(_) => "max_turns",
            Self::Tokens { .. } => "token_budget",
            Self::ToolCalls(_) => "max_tool_calls",
            Self::Time(_) => "time_budget",
        }
    }
}
