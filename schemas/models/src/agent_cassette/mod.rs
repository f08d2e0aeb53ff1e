//! Agent cassettes: the file of one agent test with one model, schema version `v1`.

mod fingerprint;
mod path;
mod read;
mod recorded;
mod reply;
mod stale;
mod view;
mod write;

use std::collections::BTreeMap;

use serde_json::Value;

pub use fingerprint::fingerprint;
pub use path::file_names;
pub use reply::{Ended, ModelReply};
pub use stale::{AgentInputs, Stale};

/// The value of `schema_version`.
pub const VERSION: &str = "v1";

/// One recorded run of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentCassette {
    /// The name of the test.
    pub agent_name: String,
    /// The model.
    pub model: String,
    /// The user's prompt.
    pub user_prompt: String,
    /// The instructions, if any.
    pub system_prompt: Option<String>,
    /// When it was recorded, as `YYYY-MM-DDTHH:MM:SSZ`.
    pub recorded_at: String,
    /// The [`fingerprint`] of the tools that the model was offered.
    pub tools_fingerprint: Option<String>,
    /// The temperature, if set.
    pub temperature: Option<f64>,
    /// The maximum number of tokens of an answer.
    pub max_tokens: Option<u64>,
    /// The version that each server reported during initialization, by the server's name; empty if
    /// unknown.
    pub servers: BTreeMap<String, String>,
    /// What happened.
    pub trace: Trace,
}

/// What happened in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// The tool uses of the model, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Their results.
    pub tool_results: Vec<ToolOutcome>,
    /// The last text of the model; empty if the run ended before there was one.
    pub final_response: String,
    /// The run in numbers.
    pub conversation: RunStats,
    /// Every answer of the model, in order; empty if they were not recorded.
    pub answers: Vec<ModelReply>,
}

/// A tool use of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its name, without the prefix of its server.
    pub name: String,
    /// The server of the tool.
    pub server: String,
    /// The arguments.
    pub args: Value,
    /// What made the call, if it was not the model itself: preserved unchanged.
    pub caller: Option<Value>,
    /// Its index in the run, from zero.
    pub hop_index: u64,
    /// The agent that made the call, if there were several.
    pub agent_id: Option<String>,
    /// A digest of everything that the agent knew when it made the call.
    pub inputs_digest: Option<String>,
}

/// The result of one tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// The index of the call, from zero.
    pub call_index: u64,
    /// The server of the tool.
    pub server: String,
    /// Whether the server reported a failure.
    pub is_error: bool,
    /// The result of `tools/call`, unchanged.
    pub result: Value,
}

/// A run in numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunStats {
    /// The tokens that it took.
    pub tokens: Tokens,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The number of messages that were exchanged.
    pub message_count: u64,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// The messages, in order.
    pub turns: Vec<Turn>,
    /// The run by turns of the user; empty if there was a single prompt.
    pub per_turn: Vec<UserTurn>,
}

/// Tokens of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Those that the model read.
    pub prompt: u64,
    /// Those that it made.
    pub completion: u64,
    /// Both.
    pub total: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished.
    #[default]
    Completed,
    /// `max_turns` was reached.
    TurnBudget,
    /// `token_budget` was reached.
    TokenBudget,
    /// `max_tool_calls` was reached.
    ToolCallBudget,
    /// `time_budget` was over.
    TimeBudget,
}

impl StopReason {
    const ALL: [Self; 5] = [
        Self::Completed,
        Self::TurnBudget,
        Self::TokenBudget,
        Self::ToolCallBudget,
        Self::TimeBudget,
    ];

    /// Its name in the file, and for matchers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::TurnBudget => "turn_budget",
            Self::TokenBudget => "token_budget",
            Self::ToolCallBudget => "tool_call_budget",
            Self::TimeBudget => "time_budget",
        }
    }

    /// The reason with a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its author: `user`, `assistant`, `tool`, `system`.
    pub role: String,
    /// Its text.
    pub content: String,
}

/// The results of one turn of the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserTurn {
    /// The user's message.
    pub user: String,
    /// The tool uses of the model.
    pub tool_calls: Vec<ToolCall>,
    /// Their results; `call_index` counts within the turn.
    pub tool_results: Vec<ToolOutcome>,
    /// The last text of the model in this turn.
    pub final_response: String,
}
