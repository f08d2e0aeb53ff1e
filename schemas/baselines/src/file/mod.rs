//! The file of a baseline.

mod error;
mod json;
mod members;
mod read;
mod write;

use serde_json::{Map, Value};
pub use tapewright_models::agent_cassette::Ended;

pub use self::error::{Problem, ReadError};
pub use self::read::read_invariants;
pub use self::write::canonical;
use crate::invariant::Invariant;

/// The major version of the format that is read and written.
pub const FORMAT: u64 = 1;
/// The JSON Schema that a file names.
pub const SCHEMA: &str = "https://mcptest.sh/schema/model-compat/v1.json";
/// The value for an unknown property of a capture.
pub const UNKNOWN: &str = "unknown";
/// The maximum length of a file, in bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// Members that are not in the format, preserved.
pub type Members = Map<String, Value>;

/// A baseline: the answers of one model, exchange by exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// The JSON Schema that the file names.
    pub schema: String,
    /// The captured model and its environment.
    pub identity: Identity,
    /// The rules that were in force when it was captured.
    pub rules: Rules,
    /// The exchanges, ordered by id, each id once.
    pub exchanges: Vec<Exchange>,
    /// The invariants that every candidate must satisfy.
    pub invariants: Vec<Invariant>,
    /// How often the model was asked; differences between these runs are noise.
    pub runs: u64,
    /// Further members.
    pub more: Members,
}

/// The captured model and its environment: the identity tuple of the format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The model, with its provider: `anthropic:claude-sonnet-4.5`.
    pub model_id: String,
    /// The model as its provider names it in answers.
    pub model_version: String,
    /// The version of the program that captured it.
    pub mcptest_version: String,
    /// The version that the MCP server reported during initialization.
    pub server_version: String,
    /// The digest of the server's configuration, see [`crate::config_hash`].
    pub server_config_hash: String,
}

/// The names of the rules in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The fields that must stay the same.
    pub invariants: Vec<String>,
    /// The fields that may vary.
    pub variances: Vec<String>,
    /// Further members.
    pub more: Members,
}

/// One exchange with the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// `<file>::<test>::<step>`.
    pub id: String,
    /// The model's answer.
    pub answer: Answer,
    /// Different answers in further runs, each once.
    pub variants: Vec<Answer>,
    /// The number of runs in which the exchange took place; `None` for all of them.
    pub seen: Option<u64>,
    /// MCP messages, kept for audit and never compared.
    pub mcp_messages: Vec<Value>,
    /// Further members.
    pub more: Members,
}

/// One answer of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The blocks of content, each an object with a `type`.
    pub content: Vec<Value>,
    /// The tools that it asks for, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish_reason: Ended,
    /// The time from the request to the end of the answer, in milliseconds.
    pub latency_ms: Option<u64>,
}

/// A tool use of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Its name, without the prefix of its server.
    pub name: String,
    /// The arguments.
    pub arguments: Value,
    /// The arguments as the model wrote them, for the order of their keys.
    pub raw_arguments: Option<String>,
    /// Further members.
    pub more: Members,
}

impl Default for Rules {
    /// All rules of version 1.
    fn default() -> Self {
        let owned = |names: [&str; 5]| names.map(str::to_owned).to_vec();
        Self {
            invariants: owned([
                "tool_called",
                "tool_order",
                "tool_args",
                "response_shape",
                "finish_reason",
            ]),
            variances: owned([
                "text_content",
                "field_order",
                "whitespace",
                "case",
                "additive_fields",
            ]),
            more: Members::new(),
        }
    }
}

impl Baseline {
    /// A baseline of one run, with its exchanges in order.
    #[must_use]
    pub fn new(identity: Identity, mut exchanges: Vec<Exchange>) -> Self {
        exchanges.sort_by(|one, other| one.id.cmp(&other.id));
        Self {
            schema: SCHEMA.to_owned(),
            identity,
            rules: Rules::default(),
            exchanges,
            invariants: Vec::new(),
            runs: 1,
            more: Members::new(),
        }
    }

    /// Leaves the exchanges whose ids a pattern takes.
    pub fn retain(&mut self, filter: &crate::Glob) {
        self.exchanges.retain(|one| filter.takes(&one.id));
    }
}

impl Exchange {
    /// An exchange that took place in every run, with the same answer.
    #[must_use]
    pub fn new(id: String, answer: Answer) -> Self {
        Self {
            id,
            answer,
            variants: Vec::new(),
            seen: None,
            mcp_messages: Vec::new(),
            more: Members::new(),
        }
    }

    /// Every known answer of the model.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        std::iter::once(&self.answer).chain(&self.variants)
    }
}

impl Answer {
    /// The texts among the blocks, in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.content.iter().filter_map(text_of)
    }
}

/// The type of a block.
pub(crate) fn kind_of(block: &Value) -> &str {
    block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The text of a block of text.
pub(crate) fn text_of(block: &Value) -> Option<&str> {
    if kind_of(block) != "text" {
        return None;
    }
    block.get("text")?.as_str()
}
