//! How well a judge agrees with people who labelled the same examples.
//!
//! [`Confusion`] counts the combinations of verdicts, and computes their accuracy and Cohen's
//! kappa; [`propose`] finds the threshold with which the scores of the judge agree best.

mod confusion;
mod threshold;

pub use confusion::Confusion;
pub use threshold::{NoProposal, Proposal, propose};

/// A score of a judge, and a person's label of the same example.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Labelled {
    /// Whether it passes, according to the person.
    pub label: bool,
    /// The judge's score, from 0 to 1.
    pub score: f64,
}
