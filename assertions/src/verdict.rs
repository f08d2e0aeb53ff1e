//! The result of an assertion.

use crate::error::EvalError;
use crate::failure::Failure;
use crate::json::Json;
use crate::world::World;

/// The input of an assertion.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// The answer, as targets see it: `{"result": …}`.
    pub envelope: &'a Json,
    /// Provides snapshots, transforms and models.
    pub world: &'a dyn World,
}

/// The result of an assertion.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Verdict {
    /// It holds.
    Passed,
    /// It was judged, and does not hold.
    Failed(Box<Failure>),
    /// It could not be judged: an error in the suite.
    Unjudged(EvalError),
    /// A model judged it and did not decide, for this reason.
    Undecided(String),
    /// The model that should judge it cannot be asked, for this reason.
    Deferred(String),
}

impl std::fmt::Debug for Evidence<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Evidence({})", self.envelope.kind())
    }
}
