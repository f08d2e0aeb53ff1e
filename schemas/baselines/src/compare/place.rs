//! Where two answers differ, so that a difference can be found again in other runs.

use super::entry::Change;

/// A place at which answers can differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Place {
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
    pub(super) fn places(&self) -> Vec<Place> {
        let place = match self {
            Self::Arguments {
                tool,
                nth,
                arguments,
            } => {
                let each = arguments.iter();
                let each = each.map(|one| Place::Argument(tool.clone(), *nth, one.pointer.clone()));
                return each.collect();
            }
            Self::Order { .. } => Place::Order,
            Self::MissingTool(tool) | Self::UnexpectedTool(tool) => Place::Tool(tool.clone()),
            Self::Count { tool, .. } => Place::Count(tool.clone()),
            Self::ArgumentOrder { tool, nth, .. } => Place::ArgumentOrder(tool.clone(), *nth),
            Self::BlockCount { .. } => Place::Blocks,
            Self::BlockType { at, .. } | Self::BlockData { at, .. } => Place::Block(*at),
            Self::Text { at, .. } => Place::Text(*at),
            Self::Finish { .. } => Place::Finish,
            // These are between exchanges, not between answers.
            Self::Same | Self::OnlyInBaseline | Self::OnlyInCandidate | Self::Invariant { .. } => {
                return Vec::new();
            }
        };
        vec![place]
    }
}
