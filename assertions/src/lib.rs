//! The assertions of a suite about an answer, and whether they hold.
//!
//! An assertion consists of a place in the answer (its [`target`]) and a condition for the value
//! there (its matcher). [`compile`] reads one from a suite and finds every error that can be found
//! without an answer. [`Assertion::judge`] then has three outcomes, which remain distinct however
//! deep matchers nest: it holds, it does not hold, or it could not be judged. The last is an error
//! in the suite and is never negated by `not`.
//!
//! Nothing here has a runtime, a clock, a file or a process: snapshots, transforms and models are
//! provided by a [`World`].

mod assertion;
mod diff;
mod error;
mod expectation;
mod failure;
pub mod json;
mod judging;
pub mod lines;
mod matcher;
pub mod score;
pub mod target;
mod test;
mod tokens;
mod verdict;
mod world;

pub use assertion::{Assertion, compile};
pub use error::{EvalError, LoadError};
pub use expectation::{
    Answer, Expectation, HeaderRule, Headers, Outcome, TokenBudget, TokenMode, Unjudged,
};
pub use failure::{Failure, Violation};
pub use json::Json;
pub use judging::{By, Juror, Opinion, Question};
pub use matcher::names as matcher_names;
pub use test::{Ask, Test};
pub use verdict::{Evidence, Verdict};
pub use world::{NoWorld, Phase, Snapshot, TransformError, World};
