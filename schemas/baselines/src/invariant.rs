//! The invariants that every candidate must satisfy.

use serde_json::Value;

use crate::file::{Answer, Members};
use crate::glob::Glob;

/// An invariant that a baseline declares.
#[derive(Clone, Debug, PartialEq)]
pub struct Invariant {
    /// Its name.
    pub name: String,
    /// The condition.
    pub condition: Condition,
    /// The exchanges that it applies to, as a pattern for their ids; all of them if `None`.
    pub id: Option<String>,
    /// Further members of the condition.
    pub condition_more: Members,
    /// Further members.
    pub more: Members,
}

/// A condition for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It asks for a tool.
    ToolCalled {
        /// The tool.
        tool: String,
    },
    /// It asks for a tool, each time with an argument.
    ArgPresent {
        /// The tool.
        tool: String,
        /// The argument.
        arg: String,
    },
    /// Its text contains this part, case-sensitively.
    ResponseFieldPresent {
        /// The part.
        text: String,
    },
    /// Its text contains this part, ignoring case.
    ResponseSemanticMatch {
        /// The part.
        text: String,
    },
    /// It took less than this time.
    LatencyUnderMs {
        /// The limit, in milliseconds.
        ms: u64,
    },
}

/// Why an invariant does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// The tool is not called.
    NotCalled {
        /// The tool.
        tool: String,
    },
    /// A call does not have this argument.
    NoArgument {
        /// The tool.
        tool: String,
        /// The argument.
        arg: String,
    },
    /// The text is not there.
    NoText {
        /// The text.
        text: String,
    },
    /// It took too long.
    Slow {
        /// The latency, in milliseconds.
        took_ms: u64,
        /// The limit, in milliseconds.
        ms: u64,
    },
    /// The latency was not captured.
    NoLatency {
        /// The limit, in milliseconds.
        ms: u64,
    },
}

impl Invariant {
    /// Whether it applies to an exchange.
    #[must_use]
    pub fn is_about(&self, id: &str) -> bool {
        let pattern = self.id.as_deref();
        pattern.is_none_or(|pattern| Glob::new(pattern).takes(id))
    }

    /// Its value in a file.
    pub(crate) fn to_value(&self) -> Value {
        let mut condition = self.condition_more.clone();
        let mut put = |name: &str, value: Value| condition.insert(name.to_owned(), value);
        match &self.condition {
            Condition::ToolCalled { tool } => {
                put("tool", tool.as_str().into());
            }
            Condition::ArgPresent { tool, arg } => {
                put("tool", tool.as_str().into());
                put("arg", arg.as_str().into());
            }
            Condition::ResponseFieldPresent { text }
            | Condition::ResponseSemanticMatch { text } => {
                put("text", text.as_str().into());
            }
            Condition::LatencyUnderMs { ms } => {
                put("ms", (*ms).into());
            }
        }
        let mut map = self.more.clone();
        map.insert("name".to_owned(), self.name.as_str().into());
        map.insert("kind".to_owned(), self.condition.kind().into());
        map.insert("condition".to_owned(), condition.into());
        if let Some(id) = &self.id {
            map.insert("id".to_owned(), id.as_str().into());
        }
        Value::Object(map)
    }
}

impl Condition {
    /// Its kind in a file.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::ToolCalled { .. } => "tool_called",
            Self::ArgPresent { .. } => "arg_present",
            Self::ResponseFieldPresent { .. } => "response_field_present",
            Self::ResponseSemanticMatch { .. } => "response_semantic_match",
            Self::LatencyUnderMs { .. } => "latency_under_ms",
        }
    }

    /// Checks an answer; the error is the reason why it fails.
    pub fn check(&self, answer: &Answer) -> Result<(), Violation> {
        let calls_of = |name: &str| {
            let calls = answer.tool_calls.iter();
            calls.filter(|call| call.name == name).collect::<Vec<_>>()
        };
        let holds = |holds: bool, why: Violation| if holds { Ok(()) } else { Err(why) };
        match self {
            Self::ToolCalled { tool } => {
                let tool = tool.clone();
                holds(!calls_of(&tool).is_empty(), Violation::NotCalled { tool })
            }
            Self::ArgPresent { tool, arg } => {
                let calls = calls_of(tool);
                let (tool, arg) = (tool.clone(), arg.clone());
                if calls.is_empty() {
                    return Err(Violation::NotCalled { tool });
                }
                let has = calls.iter().all(|call| call.arguments.get(&arg).is_some());
                holds(has, Violation::NoArgument { tool, arg })
            }
            Self::ResponseFieldPresent { text } => {
                let has = answer.texts().any(|said| said.contains(text));
                holds(has, Violation::NoText { text: text.clone() })
            }
            Self::ResponseSemanticMatch { text } => {
                let wanted = text.to_lowercase();
                let has = answer
                    .texts()
                    .any(|said| said.to_lowercase().contains(&wanted));
                holds(has, Violation::NoText { text: text.clone() })
            }
            Self::LatencyUnderMs { ms } => match answer.latency_ms {
                None => Err(Violation::NoLatency { ms: *ms }),
                Some(took_ms) => holds(took_ms < *ms, Violation::Slow { took_ms, ms: *ms }),
            },
        }
    }
}
