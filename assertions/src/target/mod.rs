//! The place in an answer that an assertion refers to.
//!
//! `result.content[0].text`: names are separated by dots, `[0]` is an element of an array,
//! `["a.b"]` a member whose name contains dots or brackets, and `length` after an array the number
//! of its elements. The empty target is the whole envelope.

mod parse;
mod resolve;

use std::fmt;

pub use resolve::{Found, Stop};

/// A parsed target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Index(usize),
    Name(String),
}

impl Target {
    /// Whether the path starts with these names.
    ///
    /// Finds out whether an assertion's target is in `result.error`, in any spelling.
    #[must_use]
    pub fn starts_with(&self, names: &[&str]) -> bool {
        names.len() <= self.steps.len()
            && names
                .iter()
                .zip(&self.steps)
                .all(|(name, step)| matches!(step, Step::Name(found) if found == name))
    }

    /// The name that is this step of the path, from 0; `None` for an index, and beyond the end.
    #[must_use]
    pub fn name(&self, step: usize) -> Option<&str> {
        match self.steps.get(step)? {
            Step::Name(name) => Some(name),
            Step::Index(_) => None,
        }
    }

    /// Whether it is the whole envelope.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.steps.is_empty()
    }
}

/// As written.
impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}
