//! Possible findings, and what they mean.

use serde_json::Value;
use tapewright_models::agent_cassette::Ended;

use crate::invariant::Violation;

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The id of the exchange.
    pub test_id: String,
    /// The kind of difference.
    pub category: Category,
    /// How severe it is.
    pub severity: Severity,
    /// The same model differs from itself in the same way, so it does not count.
    pub is_noise: bool,
    /// The difference.
    pub change: Change,
}

/// The subject of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// The called tools.
    ToolCalls,
    /// The arguments of the calls.
    ToolArgs,
    /// The types of the blocks of an answer.
    ResponseShape,
    /// The contents of its texts.
    ResponseSemantics,
    /// Why it ended.
    FinishReason,
    /// The rules of the baseline.
    Invariant,
}

impl Category {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool_calls",
            Self::ToolArgs => "tool_args",
            Self::ResponseShape => "response_shape",
            Self::ResponseSemantics => "response_semantics",
            Self::FinishReason => "finish_reason",
            Self::Invariant => "invariant",
        }
    }
}

/// How severe an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing differs.
    Pass,
    /// It differs, as models may.
    Drift,
    /// It differs, and should not.
    Fail,
}

impl Severity {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Drift => "DRIFT",
            Self::Fail => "FAIL",
        }
    }
}

/// A difference. `before` is the baseline, `after` the candidate.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Nothing.
    Same,
    /// The candidate does not have this exchange.
    OnlyInBaseline,
    /// The baseline does not have this exchange.
    OnlyInCandidate,
    /// The same tools are called in a different order.
    Order {
        /// Their names.
        before: Vec<String>,
        /// Their names.
        after: Vec<String>,
    },
    /// A tool is not called any more; one for each call.
    MissingTool(String),
    /// A tool is called that was not; one for each call.
    UnexpectedTool(String),
    /// A tool is called more often, or not as often.
    Count {
        /// Its name.
        tool: String,
        /// The number of calls.
        before: usize,
        /// The number of calls.
        after: usize,
    },
    /// The arguments are the same and are written in another order.
    ArgumentOrder {
        /// The tool.
        tool: String,
        /// The index of the call among those of the tool, from 0.
        nth: usize,
        /// The arguments as written.
        before: String,
        /// The arguments as written.
        after: String,
    },
    /// The arguments differ.
    Arguments {
        /// The tool.
        tool: String,
        /// The index of the call among those of the tool, from 0.
        nth: usize,
        /// Each argument that differs.
        arguments: Vec<ArgumentChange>,
    },
    /// There are more blocks, or fewer.
    BlockCount {
        /// The number of blocks.
        before: usize,
        /// The number of blocks.
        after: usize,
    },
    /// A block is of another type.
    BlockType {
        /// Its index, from 0.
        at: usize,
        /// The type.
        before: String,
        /// The type.
        after: String,
    },
    /// A block has other data.
    BlockData {
        /// Its index, from 0.
        at: usize,
        /// Its type.
        kind: String,
        /// The members that differ.
        members: Vec<String>,
        /// All of these are new.
        is_additive: bool,
    },
    /// A text, or a thought, is another one.
    Text {
        /// The index of its block, from 0.
        at: usize,
        /// How it differs.
        how: TextChange,
        /// The text.
        before: String,
        /// The text.
        after: String,
    },
    /// The answer ended for another reason.
    Finish {
        /// The reason.
        before: Ended,
        /// The reason.
        after: Ended,
    },
    /// An invariant of the baseline does not hold.
    Invariant {
        /// Its name.
        name: String,
        /// Why not.
        violation: Violation,
    },
}

/// How texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextChange {
    /// In case only.
    Case,
    /// In white space only.
    Whitespace,
    /// In words.
    Words,
}

/// An argument that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentChange {
    /// Its JSON pointer in the arguments; empty if they are not both objects.
    pub pointer: String,
    /// How it differs.
    pub kind: ArgumentKind,
    /// Its value in the baseline.
    pub before: Option<Value>,
    /// Its value in the candidate.
    pub after: Option<Value>,
}

/// How an argument differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// It is new.
    Added,
    /// It was removed.
    Removed,
    /// It has another value.
    Value,
    /// It has a value of another type.
    Type,
}

impl Entry {
    pub(super) fn new(test_id: &str, change: Change) -> Self {
        let (category, severity) = change.class();
        Self {
            test_id: test_id.to_owned(),
            category,
            severity,
            is_noise: false,
            change,
        }
    }
}

impl Change {
    /// The table of the format: the category of a difference, and its severity.
    #[must_use]
    pub fn class(&self) -> (Category, Severity) {
        use Severity::{Drift, Fail, Pass};
        let drift_if = |drifts: bool| if drifts { Drift } else { Fail };
        match self {
            Self::Same => (Category::ResponseShape, Pass),
            Self::OnlyInBaseline => (Category::ToolCalls, Fail),
            Self::OnlyInCandidate | Self::Count { .. } => (Category::ToolCalls, Drift),
            Self::Order { .. } | Self::MissingTool(_) | Self::UnexpectedTool(_) => {
                (Category::ToolCalls, Fail)
            }
            Self::ArgumentOrder { .. } => (Category::ToolArgs, Drift),
            Self::Arguments { arguments, .. } => {
                let is_new = |one: &ArgumentChange| one.kind == ArgumentKind::Added;
                (Category::ToolArgs, drift_if(arguments.iter().all(is_new)))
            }
            Self::BlockCount { .. } | Self::BlockType { .. } => (Category::ResponseShape, Fail),
            Self::BlockData { is_additive, .. } => {
                (Category::ResponseShape, drift_if(*is_additive))
            }
            Self::Text { .. } => (Category::ResponseSemantics, Drift),
            Self::Finish { .. } => (Category::FinishReason, Fail),
            Self::Invariant { .. } => (Category::Invariant, Fail),
        }
    }
}
