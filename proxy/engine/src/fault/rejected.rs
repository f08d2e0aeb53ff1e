//! Why a fault is not put in force.

use super::fault_set::MOST;
use super::spec::{SpecError, hint};

/// Why the fault set was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The name is taken.
    #[error("fault `{0}` already exists; change it, or choose another name")]
    NameTaken(String),
    /// Something is missing, or it can never act here.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Too many.
    #[error("too many faults: at most {MOST} are allowed")]
    TooMany,
    /// No such fault.
    #[error("unknown fault `{name}`{}", hint(.near.as_deref()))]
    Unknown {
        /// The messages of an exchange.
        name: String,
        /// What may have been meant, as a question.
        near: Option<String>,
    },
}
