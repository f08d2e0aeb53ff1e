//! An agent's request to a model.

use serde_json::Value;

use super::{Block, Extra};
use crate::Wire;

/// One request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The wire that it travels on.
    pub wire: Wire,
    /// The model, as the wire names it.
    pub model: String,
    /// Instructions before the conversation.
    pub system: Vec<Block>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model may use.
    pub tools: Vec<ToolSpec>,
    /// Whether it may, or must.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may ask for several at once.
    pub parallel_tools: Option<bool>,
    /// Limits and settings that every wire has.
    pub sampling: Sampling,
    /// Whether the answer is requested as a stream.
    pub stream: bool,
    /// All other members of the body: `thinking`, `response_format`, `metadata`, …
    pub more: Extra,
}

impl Request {
    /// An empty request.
    pub fn new(wire: Wire, model: impl Into<String>) -> Self {
        Self {
            wire,
            model: model.into(),
            system: Vec::new(),
            messages: Vec::new(),
            tools: Vec::new(),
            tool_choice: None,
            parallel_tools: None,
            sampling: Sampling::default(),
            stream: false,
            more: Extra::new(),
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its author. Tool results are messages of the user, on every wire.
    pub role: Role,
    /// Its content.
    pub blocks: Vec<Block>,
    /// Further members of it: `name`, `prefix`, …
    pub more: Extra,
}

impl Message {
    /// A message without further members.
    #[must_use]
    pub fn new(role: Role, blocks: Vec<Block>) -> Self {
        Self {
            role,
            blocks,
            more: Extra::new(),
        }
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user, or the agent in its place.
    User,
    /// The model.
    Assistant,
    /// Instructions in the middle of a conversation.
    System,
}

impl Role {
    /// Its name in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

/// A tool that a model may use.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolSpec {
    /// A tool that the agent carries out.
    Function(Tool),
    /// A built-in tool of the provider, in the wire's own form.
    Builtin(Value),
}

impl ToolSpec {
    /// The name of a function; a built-in tool of the provider has no relevant name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Function(tool) => Some(&tool.name),
            Self::Builtin(_) => None,
        }
    }
}

/// A tool that the agent carries out.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name that the model uses.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub schema: Option<Value>,
    /// Further members of its declaration: `strict`, `cache_control`, …
    pub more: Extra,
}

/// Whether a model may use tools, or must.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolChoice {
    /// Optionally.
    Auto,
    /// Not at all.
    None,
    /// At least one.
    Required,
    /// This one.
    Tool(String),
    /// Only some of these.
    Among {
        /// Their names.
        names: Vec<String>,
        /// Whether it must use at least one.
        required: bool,
    },
    /// Something else, whole.
    Other(Value),
}

/// Limits and settings that every wire has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// The maximum number of tokens of the answer.
    pub max_tokens: Option<u64>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// The number of candidates for each token.
    pub top_k: Option<u64>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// The seed that makes an answer repeatable.
    pub seed: Option<i64>,
}
