//! Converts the questions of matchers for judges.

use tapewright_assertions::{By, Juror as Named, Opinion as MatcherOpinion, Question};
use tapewright_judges::{
    Candidate, Juror, Jury, Opinion, Outcome, Rubric, RubricMatcher as Matcher, Samples, Subject,
};

use super::{JudgingTask, Nearness, TestJudge};
use crate::report::judgement::why;

impl TestJudge {
    /// Asks a judge about the text at the target of an assertion.
    pub(crate) fn consult(&self, question: &Question<'_>, text: &str) -> MatcherOpinion {
        let candidate = Candidate {
            subject: Subject::Text,
            text,
        };
        let opinion = match *question {
            Question::Judge {
                by,
                text,
                model,
                threshold,
                samples,
            } => {
                let (name, text) = rubric(by, text);
                self.judge(&JudgingTask {
                    by: name,
                    rubric: &Rubric::text(text, threshold),
                    candidate,
                    model,
                    samples: Samples::new(samples).unwrap_or(Samples::ONE),
                })
            }
            Question::Jury {
                rubric,
                jurors,
                threshold,
                quorum,
            } => {
                let jury = Jury {
                    jurors: self.jurors(jurors),
                    rubric: rubric.to_owned(),
                    threshold,
                    quorum,
                };
                self.jury("llm-jury", &jury, candidate)
            }
            Question::Similar {
                value,
                model,
                threshold,
            } => self.similar(
                "similar",
                &Nearness {
                    reference: value,
                    candidate: text,
                    model,
                    threshold,
                },
            ),
            _ => return MatcherOpinion::Unknown("no model available for that".to_owned()),
        };
        told(&opinion)
    }

    fn jurors(&self, jurors: &[Named]) -> Vec<Juror> {
        let juror = |one: &Named| Juror {
            model: self.named(&one.model),
            threshold: one.threshold,
        };
        jurors.iter().map(juror).collect()
    }
}

fn told(opinion: &Opinion) -> MatcherOpinion {
    match opinion.outcome {
        Outcome::Pass => MatcherOpinion::Holds,
        Outcome::Fail => MatcherOpinion::Fails(why(opinion)),
        Outcome::Undecided => MatcherOpinion::Undecided(why(opinion)),
        Outcome::Deferred => MatcherOpinion::Deferred(why(opinion)),
        Outcome::Error => MatcherOpinion::Unknown(why(opinion)),
    }
}

/// The name of a matcher with a judge, and its rubric.
fn rubric(by: By, text: &str) -> (&'static str, String) {
    match by {
        By::Rubric => ("llm-judge", text.to_owned()),
        By::Reference => ("factuality", Matcher::Factuality.rubric(text)),
        By::Query => ("answer-relevance", Matcher::AnswerRelevance.rubric(text)),
        By::Context => (
            "context-faithfulness",
            Matcher::ContextFaithfulness.rubric(text),
        ),
    }
}
