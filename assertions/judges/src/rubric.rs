//! The criteria for a candidate.

/// The criteria for a candidate, and when it passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rubric {
    /// The questions.
    pub form: Form,
    /// The least score that passes, from 0 to 1.
    pub threshold: f64,
    /// Only a score of 1 passes.
    pub strict: bool,
}

/// The forms of a rubric.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A single judgement of the whole candidate.
    Text(String),
    /// Several judgements, averaged by weight.
    Criteria(Vec<Criterion>),
    /// Questions that lead to a score.
    Tree(Node),
}

/// One of several criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Its name in reports.
    pub name: String,
    /// The question to the judge.
    pub description: String,
    /// Its weight; more than 0.
    pub weight: f64,
    /// Its subject, unless that is the whole candidate: one turn of a conversation.
    pub about: Option<String>,
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A question, and where its answers lead.
    Ask {
        /// The question.
        ask: String,
        /// The branch for yes: a score of at least [`Node::YES`].
        yes: Box<Self>,
        /// The branch for no.
        no: Box<Self>,
    },
    /// A leaf of the tree.
    Score {
        /// From 0 to 1.
        score: f64,
        /// Why.
        reason: Option<String>,
    },
}

impl Node {
    /// The least score that is a yes.
    pub const YES: f64 = 0.5;
}

impl Rubric {
    /// The default threshold.
    pub const THRESHOLD: f64 = 0.7;

    /// A rubric with a single judgement of the whole candidate.
    #[must_use]
    pub fn text(text: impl Into<String>, threshold: f64) -> Self {
        Self {
            form: Form::Text(text.into()),
            threshold,
            strict: false,
        }
    }

    /// Whether a score passes.
    #[must_use]
    pub fn takes(&self, score: f64) -> bool {
        if self.strict {
            score >= 1.0
        } else {
            score >= self.threshold
        }
    }
}
