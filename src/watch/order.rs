//! The order of the tools.

use std::cmp::Ordering;

use super::sums::Tool;

/// The order of the tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    by: Column,
    is_reversed: bool,
}

/// A tool with its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedTool<'t> {
    pub(super) name: &'t str,
    pub(super) tool: &'t Tool,
}

/// A column of the tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Column {
    #[default]
    Calls,
    Failed,
    P50,
    P99,
    Bytes,
    Name,
}

impl Order {
    /// The order after a key: an upper-case letter selects a column, and the same letter again
    /// reverses the order. `None` for other keys.
    pub(super) fn after(self, key: char) -> Option<Self> {
        let by = match key {
            'C' => Column::Calls,
            'F' => Column::Failed,
            'M' => Column::P50,
            'P' => Column::P99,
            'B' => Column::Bytes,
            'T' => Column::Name,
            _ => return None,
        };
        let is_reversed = by == self.by && !self.is_reversed;
        Some(Self { by, is_reversed })
    }

    /// Compares two tools by the column, the larger first, and then by name.
    pub(super) fn compare(self, one: &NamedTool<'_>, other: &NamedTool<'_>) -> Ordering {
        let number = |tool: &Tool| match self.by {
            Column::Calls => Some(tool.count),
            Column::Failed => Some(tool.failures),
            Column::P50 => tool.times.percentile(50),
            Column::P99 => tool.times.percentile(99),
            Column::Bytes => Some(tool.bytes),
            Column::Name => None,
        };
        let more = number(other.tool).cmp(&number(one.tool));
        let order = more.then_with(|| one.name.cmp(other.name));
        if self.is_reversed {
            order.reverse()
        } else {
            order
        }
    }
}
