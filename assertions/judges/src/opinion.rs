//! The result of judging.

/// The result of judging one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// The outcome.
    pub outcome: Outcome,
    /// From 0 to 1; `None` if it was not judged.
    pub score: Option<f64>,
    /// The least score that passes.
    pub threshold: f64,
    /// Only a score of 1 passes.
    pub strict: bool,
    /// The judge's reason for the overall result; or why it was not judged.
    pub reason: Option<String>,
    /// The judge's model; empty for a jury.
    pub model: String,
    /// For criteria: the result of each.
    pub findings: Vec<Finding>,
    /// For a tree: the questions from its root to a score.
    pub path: Vec<Step>,
    /// If a failure was to be confirmed: each vote, in order.
    pub votes: Vec<Vote>,
    /// For a jury: each juror.
    pub jurors: Vec<JurorOpinion>,
    /// For a jury: the share of the votes that passed it.
    pub pass_fraction: Option<f64>,
    /// For a jury: the required share.
    pub quorum: Option<f64>,
    /// For a jury: how far its scores agree, see [`crate::alpha::of_one`].
    pub agreement: Option<f64>,
    /// All answers come from recordings.
    pub replayed: bool,
}

/// The outcome of judging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passes.
    Pass,
    /// It was judged, and does not pass.
    Fail,
    /// It was judged, but remains undecided.
    Undecided,
    /// No judge could be asked: no key is set.
    Deferred,
    /// The judge failed, which does not affect the candidate.
    Error,
}

impl Outcome {
    /// The word of reports for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided => "undecided",
            Self::Deferred => "deferred",
            Self::Error => "error",
        }
    }

    /// Pass or fail.
    #[must_use]
    pub fn of(passes: bool) -> Self {
        if passes { Self::Pass } else { Self::Fail }
    }

    /// Whether a verdict was reached, either way.
    #[must_use]
    pub fn is_decided(self) -> bool {
        matches!(self, Self::Pass | Self::Fail)
    }
}

/// The result of one criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The criterion.
    pub name: String,
    /// Its weight.
    pub weight: f64,
    /// From 0 to 1.
    pub score: f64,
    /// The judge's reason.
    pub reason: Option<String>,
}

/// One question of a tree, and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The question.
    pub ask: String,
    /// Whether the answer is yes.
    pub yes: bool,
    /// From 0 to 1.
    pub score: f64,
    /// The judge's reason.
    pub reason: Option<String>,
}

/// One of several opinions about the same candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// The outcome.
    pub outcome: Outcome,
    /// From 0 to 1; `None` if the judge failed.
    pub score: Option<f64>,
    /// Why.
    pub reason: Option<String>,
}

/// The opinion of one juror.
#[derive(Clone, Debug, PartialEq)]
pub struct JurorOpinion {
    /// The juror's model.
    pub model: String,
    /// The least score that passes with this juror.
    pub threshold: f64,
    /// Its vote; a juror that deferred or failed abstains.
    pub vote: Vote,
}

impl Opinion {
    /// An opinion without any details.
    #[must_use]
    pub fn new(outcome: Outcome, threshold: f64) -> Self {
        Self {
            outcome,
            score: None,
            threshold,
            strict: false,
            reason: None,
            model: String::new(),
            findings: Vec::new(),
            path: Vec::new(),
            votes: Vec::new(),
            jurors: Vec::new(),
            pass_fraction: None,
            quorum: None,
            agreement: None,
            replayed: false,
        }
    }

    /// This opinion as a vote.
    #[must_use]
    pub fn vote(&self) -> Vote {
        Vote {
            outcome: self.outcome,
            score: self.score,
            reason: self.reason.clone(),
        }
    }

    /// Whether another opinion has a different result.
    #[must_use]
    pub fn moved(&self, other: &Self) -> bool {
        let points = |one: &Self| one.score.map(|score| (score * 1_000.0).round());
        self.outcome != other.outcome || points(self) != points(other)
    }
}
