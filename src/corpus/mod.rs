//! Runs a corpus: live, or over a recording.
//!
//! [`live`] asks a server, [`captured`] reads a recording. Both return a [`Run`], the only input of
//! reports. Only `tapewright-corpus` judges whether a rule holds.

pub(crate) mod captured;
pub(crate) mod live;
pub(crate) mod versions;

use tapewright_corpus::plan::{Facts, Outcome, Plan, Tally};

/// The outcome of running a corpus.
#[derive(Debug)]
pub(crate) struct Run {
    /// The rules.
    pub(crate) plan: Plan,
    /// The outcome of each rule.
    pub(crate) outcomes: Vec<Outcome>,
    /// The revision of the conversation.
    pub(crate) revision: String,
    /// Notes about the run.
    pub(crate) notes: Vec<String>,
    /// Whether the evidence has gaps.
    pub(crate) gaps: bool,
}

impl Run {
    fn new(plan: Plan, tally: &Tally, facts: &Facts, revision: String) -> Self {
        Self {
            outcomes: plan.outcomes(tally, facts),
            plan,
            revision,
            notes: Vec::new(),
            gaps: false,
        }
    }
}
