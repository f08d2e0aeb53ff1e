//! What came of judging.

/// What came of judging one candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// How it came out.
    pub outcome: Outcome,
    /// From 0 to 1; none where it was not judged.
    pub score: Option<f64>,
    /// The least score that passes.
    pub threshold: f64,
    /// Only a score of 1 passes.
    pub strict: bool,
    /// What the judge says of the whole; or why it was not judged.
    pub reason: Option<String>,
    /// Who judged; empty where a jury did.
    pub model: String,
    /// Of criteria, each.
    pub findings: Vec<Finding>,
    /// Of a tree, the questions from its root to a score.
    pub path: Vec<Step>,
    /// Where a failure was to be confirmed, each vote in its order.
    pub votes: Vec<Vote>,
    /// Of a jury, each juror.
    pub jurors: Vec<JurorOpinion>,
    /// Of a jury: which part of those who judged let it pass.
    pub pass_fraction: Option<f64>,
    /// Of a jury: the least part that has to.
    pub quorum: Option<f64>,
    /// Of a jury: how far its scores agree, see [`crate::alpha::of_one`].
    pub agreement: Option<f64>,
    /// All of it comes from recordings.
    pub replayed: bool,
}

/// How judging came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passes.
    Pass,
    /// It was judged, and does not pass.
    Fail,
    /// It was judged, and nothing is decided.
    Undecided,
    /// No judge could be asked: no key is set.
    Deferred,
    /// The judge failed, which says nothing about what is judged.
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

/// What was found of one criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The criterion.
    pub name: String,
    /// How much it counts.
    pub weight: f64,
    /// From 0 to 1.
    pub score: f64,
    /// Why, in the words of the judge.
    pub reason: Option<String>,
}

/// One question of a tree, and how it was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The question.
    pub ask: String,
    /// Whether the answer is yes.
    pub yes: bool,
    /// From 0 to 1.
    pub score: f64,
    /// Why, in the words of the judge.
    pub reason: Option<String>,
}

/// One of several opinions about the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// How it came out.
    pub outcome: Outcome,
    /// From 0 to 1; none where the judge failed.
    pub score: Option<f64>,
    /// Why.
    pub reason: Option<String>,
}

/// What one juror says.
#[derive(Clone, Debug, PartialEq)]
pub struct JurorOpinion {
    /// Who.
    pub model: String,
    /// The least score that passes with this juror.
    pub threshold: f64,
    /// How it came out; who deferred or failed abstains.
    pub vote: Vote,
}

impl Opinion {
    /// One in which nothing is known yet.
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

    /// Whether another opinion comes out otherwise.
    #[must_use]
    pub fn moved(&self, other: &Self) -> bool {
        let points = |one: &Self| one.score.map(|score| (score * 1_000.0).round());
        self.outcome != other.outcome || points(self) != points(other)
    }
}
