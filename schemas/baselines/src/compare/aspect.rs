//! The place where two answers differ, so that the same difference can be found in other runs.

use super::entry::Change;

/// An aspect in which answers can differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Aspect {
    Order,
    Tool(String),
    Count(String),
    ArgumentOrder(String, usize),
    Argument(String, usize, String),
    Blocks,
    Block(usize),
    Text(usize),
    Finish,
}

impl Change {
    /// The places that a difference between two answers is at.
    pub(super) fn places(&self) -> Vec<Aspect> {
        let place = match self {
            Self::Arguments {
                tool,
                nth,
                arguments,
            } => {
                let each = arguments.iter();
                let each =
                    each.map(|one| Aspect::Argument(tool.clone(), *nth, one.pointer.clone()));
                return each.collect();
            }
            Self::Order { .. } => Aspect::Order,
            Self::MissingTool(tool) | Self::UnexpectedTool(tool) => Aspect::Tool(tool.clone()),
            Self::Count { tool, .. } => Aspect::Count(tool.clone()),
            Self::ArgumentOrder { tool, nth, .. } => Aspect::ArgumentOrder(tool.clone(), *nth),
            Self::BlockCount { .. } => Aspect::Blocks,
            Self::BlockType { at, .. } | Self::BlockData { at, .. } => Aspect::Block(*at),
            Self::Text { at, .. } => Aspect::Text(*at),
            Self::Finish { .. } => Aspect::Finish,
            // These are between exchanges, not between answers.
            Self::Same | Self::OnlyInBaseline | Self::OnlyInCandidate | Self::Invariant { .. } => {
                return Vec::new();
            }
        };
        vec![place]
    }
}
