//! Why a fault is rejected.

use super::fault_set::MOST;
use super::spec::{SpecError, hint};

/// Why the fault set was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejected {
    /// The name is already used.
    #[error("fault `{0}` already exists; change it, or choose another name")]
    NameTaken(String),
    /// A parameter is missing, or the fault can never act here.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Too many.
    #[error("too many faults: at most {MOST} are allowed")]
    TooMany,
    /// No such fault.
    #[error("unknown fault `{name}`{}", hint(.near.as_deref()))]
    Unknown {
        /// The given name.
        name: String,
        /// A similar name, as a question.
        near: Option<String>,
    },
}
