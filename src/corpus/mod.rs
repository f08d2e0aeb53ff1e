//! Carrying out a corpus: live, or over a recording.
//!
//! [`live`] asks a server, [`captured`] reads a recording. Both give [`Run`], and reports know nothing else. What a rule
//! expects is judged by `tapewright-corpus` alone.

pub(crate) mod captured;
pub(crate) mod live;
pub(crate) mod versions;

use tapewright_corpus::plan::{Facts, Outcome, Plan, Tally};

/// A corpus that was carried out.
#[derive(Debug)]
pub(crate) struct Run {
    /// The rules.
    pub(crate) plan: Plan,
    /// What became of each.
    pub(crate) outcomes: Vec<Outcome>,
    /// The revision that the server speaks.
    pub(crate) revision: String,
    /// What is to be said about the run.
    pub(crate) notes: Vec<String>,
    /// Something is missing that may tell.
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
