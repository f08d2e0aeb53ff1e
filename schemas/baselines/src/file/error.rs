//! Why a file is refused.

use super::{FORMAT, MAX_BYTES};

/// Why a file cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at `{}`", if self.pointer.is_empty() { "/" } else { &self.pointer })]
pub struct ReadError {
    /// The JSON pointer (RFC 6901) of the value; empty for the whole document.
    pub pointer: String,
    /// The problem.
    pub problem: Problem,
}

/// A problem with a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not JSON, is nested deeper than 128 levels, or has a duplicate member.
    #[error("not JSON ({0})")]
    NotJson(String),
    /// It is of another type, or another value.
    #[error("expected {0}")]
    Expected(&'static str),
    /// It must be there.
    #[error("missing member")]
    Missing,
    /// Another exchange has the same id.
    #[error("the id of another exchange, `/assertions/{first}`,")]
    SameId {
        /// The place of that exchange.
        first: usize,
    },
    /// It has another version of the format; files of different versions are not compared.
    #[error("version {found}, where only {FORMAT} can be compared,")]
    Version {
        /// The version in the file.
        found: u64,
    },
    /// It is longer than is read here.
    #[error("longer than {} MiB", MAX_BYTES >> 20)]
    TooLong,
}

impl ReadError {
    pub(crate) fn new(problem: Problem) -> Self {
        Self {
            pointer: String::new(),
            problem,
        }
    }

    pub(crate) fn expected(what: &'static str) -> Self {
        Self::new(Problem::Expected(what))
    }

    /// The same error, seen from the object or list around it.
    pub(crate) fn under(mut self, step: &str) -> Self {
        let step = step.replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &step);
        self.pointer.insert(0, '/');
        self
    }
}
