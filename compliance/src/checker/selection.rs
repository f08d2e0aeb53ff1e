//! The selection of invariants.

use crate::code::Code;
use crate::finding::Severity;
use crate::invariant::Invariant;
use crate::table::{SEED, TABLE};

/// Which invariants judge, and the lowest severity of a finding.
#[derive(Clone, Debug)]
pub struct Selection {
    // In the order of the table.
    chosen: Vec<bool>,
    severity: Severity,
}

/// A selection that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The invariant does not exist.
    #[error("unknown invariant `{code}`")]
    Unknown {
        /// The code.
        code: Code,
    },
}

impl Selection {
    /// The documented seven.
    #[must_use]
    pub fn documented() -> Self {
        Self {
            chosen: TABLE.iter().map(|one| SEED.contains(&one.code)).collect(),
            severity: Severity::Derived,
        }
    }

    /// Selects all invariants.
    #[must_use]
    pub fn all() -> Self {
        Self {
            chosen: vec![true; TABLE.len()],
            severity: Severity::Derived,
        }
    }

    /// Selects none, as a start for adding some.
    #[must_use]
    pub fn none() -> Self {
        Self {
            chosen: vec![false; TABLE.len()],
            severity: Severity::Derived,
        }
    }

    /// Adds one.
    pub fn select(&mut self, code: Code) -> Result<(), SelectionError> {
        self.set(code, true)
    }

    /// Leaves one out.
    pub fn ignore(&mut self, code: Code) -> Result<(), SelectionError> {
        self.set(code, false)
    }

    /// Excludes invariants that are less severe than this in all revisions, and less severe
    /// findings of the others.
    pub fn at_least(&mut self, severity: Severity) {
        self.severity = severity;
        for (chosen, one) in self.chosen.iter_mut().zip(TABLE) {
            let strongest = one.levels.each().next().map(|(level, _)| level);
            *chosen &= strongest >= Some(severity);
        }
    }

    /// Whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.chosen.contains(&true)
    }

    /// The mildest finding that counts.
    pub(crate) fn severity(&self) -> Severity {
        self.severity
    }

    /// Each selected invariant, with its place in the table.
    pub(crate) fn each(&self) -> impl Iterator<Item = (usize, &'static Invariant)> {
        let all = TABLE.iter().enumerate().zip(&self.chosen);
        all.filter(|(_, chosen)| **chosen)
            .map(|((index, one), _)| (index, *one))
    }

    fn set(&mut self, code: Code, chosen: bool) -> Result<(), SelectionError> {
        let index = TABLE.iter().position(|one| one.code == code);
        let slot = index.and_then(|index| self.chosen.get_mut(index));
        *slot.ok_or(SelectionError::Unknown { code })? = chosen;
        Ok(())
    }
}
