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
    /// It can never fire here.
    #[error("`{kind}` is for {needs}, which is not what is spoken here")]
    OutOfReach {
        /// The kind.
        kind: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// Over HTTP it can only be done to answers.
    #[error(
        "`{kind}` cannot be done to a request over HTTP: there a request can come later, or never; leave out `on=request` to do it to the answer"
    )]
    OnRequest {
        /// The kind.
        kind: &'static str,
    },
    /// Over HTTP the answers of clients can only come later, or never.
    #[error(
        "`{kind}` cannot be done to the answers of clients over HTTP: there they can come later, or never; leave out `dir=to_client` to do it to the answers of the server"
    )]
    ToClient {
        /// The kind.
        kind: &'static str,
    },
    /// Something is missing.
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
