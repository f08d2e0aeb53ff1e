//! Why a fault is not put in force.

use super::book::MOST;
use super::spec::{SpecError, hint};

/// Why the book was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The name is taken.
    #[error("there is a fault `{0}` already; change it, or choose another name")]
    NameTaken(String),
    /// Something is missing, or it can never act here.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Too many.
    #[error("there are {MOST} faults already")]
    TooMany,
    /// No such fault.
    #[error("there is no fault `{name}`{}", hint(.near.as_deref()))]
    Unknown {
        /// What was said.
        name: String,
        /// What may have been meant, as a question.
        near: Option<String>,
    },
}
