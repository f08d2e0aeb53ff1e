//! Matchers with a built-in rubric around a text of the suite.

/// A matcher with a built-in rubric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RubricMatcher {
    /// `factuality`: does it agree with a reference?
    Factuality,
    /// `answer-relevance`: does it answer a question?
    AnswerRelevance,
    /// `context-faithfulness`: is everything in it supported by a context?
    ContextFaithfulness,
}

impl RubricMatcher {
    /// The rubric, containing the text of the suite.
    #[must_use]
    pub fn rubric(self, text: &str) -> String {
        match self {
            Self::Factuality => format!(
                "The text must agree in its facts with the reference below. It may say less or more, in other words, as long as nothing contradicts the reference. 1: it states what the reference states, and contradicts nothing. Around 0.5: it leaves out what matters of the reference. 0: it contradicts the reference.\n\nReference:\n{text}"
            ),
            Self::AnswerRelevance => format!(
                "The text must answer the question below: directly, completely, and without straying from it. Whether it is true does not count. 1: it answers the question. Around 0.5: it answers a part, or buries the answer. 0: it does not answer it.\n\nQuestion:\n{text}"
            ),
            Self::ContextFaithfulness => format!(
                "Every claim of the text must be supported by the context below. What the context does not say is unsupported, even where it is true. 1: every claim is supported. 0: its main claim is not, or contradicts the context.\n\nContext:\n{text}"
            ),
        }
    }
}
