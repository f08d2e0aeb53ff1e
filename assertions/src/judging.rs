//! The questions of matchers to models, and the results.

/// A matcher's question about a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question<'q> {
    /// One model judges.
    Judge {
        /// The meaning of the text.
        by: By,
        /// The rubric, or the text for the matcher's own rubric.
        text: &'q str,
        /// The model, if the suite names one.
        model: Option<&'q str>,
        /// The least score that passes, from 0 to 1.
        threshold: f64,
        /// The number of opinions that decide if the first one is a failure: odd, from 1 to 9.
        samples: u64,
    },
    /// Several models judge, each alone.
    Jury {
        /// The criterion.
        rubric: &'q str,
        /// The jurors.
        jurors: &'q [Juror],
        /// The minimum score to pass, for jurors without their own.
        threshold: f64,
        /// The minimum share of the votes that must pass it, from 0 to 1.
        quorum: f64,
    },
    /// The similarity of the candidate to a text, by their embeddings.
    Similar {
        /// The text.
        value: &'q str,
        /// The model that embeds both.
        model: &'q str,
        /// The least similarity that passes, from 0 to 1.
        threshold: f64,
    },
}

/// The criterion for a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `llm-judge`: a rubric.
    Rubric,
    /// `factuality`: a reference that it must agree with.
    Reference,
    /// `answer-relevance`: a question that it must answer.
    Query,
    /// `context-faithfulness`: a context that must support it.
    Context,
}

/// One of several models that judge.
#[derive(Clone, Debug, PartialEq)]
pub struct Juror {
    /// The model.
    pub model: String,
    /// The least score that passes with this juror.
    pub threshold: Option<f64>,
}

/// The result of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// It passes.
    Holds,
    /// It was judged, and does not pass, for this reason.
    Fails(String),
    /// It was judged, but remains undecided.
    Undecided(String),
    /// No judge could be asked: a key is not set.
    Deferred(String),
    /// The judge failed, which does not affect the candidate.
    Unknown(String),
}
