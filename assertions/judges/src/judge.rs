//! Judging a candidate by a rubric.

use crate::ask::{AskOutcome, ask};
use crate::call::{Asker, Call, Model, Subject};
use crate::opinion::{Finding, Opinion, Outcome, Step};
use crate::rubric::{Criterion, Form, Node, Rubric};

/// The number of opinions that decide if the first one is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples(u32);

impl Samples {
    /// The first opinion decides.
    pub const ONE: Self = Self(1);
    /// The most opinions there can be.
    pub const MOST: u32 = 9;

    /// An odd number from 1 to [`Samples::MOST`]; otherwise `None`.
    #[must_use]
    pub fn new(count: u64) -> Option<Self> {
        let count = u32::try_from(count).ok()?;
        (count % 2 == 1 && count <= Self::MOST).then_some(Self(count))
    }
}

/// A candidate to judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'c> {
    /// Its type.
    pub subject: Subject,
    /// The text. It is data, whatever it contains.
    pub text: &'c str,
}

/// Judges a candidate. If requested, a failure is confirmed by further opinions: a pass counts at
/// once, and a failure is decided by the majority. Failed opinions do not count; if the others are
/// tied, the result is undecided.
pub fn judge(
    rubric: &Rubric,
    candidate: Candidate<'_>,
    model: &Model,
    samples: Samples,
    asker: &mut dyn Asker,
) -> Opinion {
    let once = |sample, asker: &mut dyn Asker| {
        Judging {
            rubric,
            candidate,
            model,
            sample,
            asker,
            replayed: true,
        }
        .opinion()
    };
    let first = once(0, asker);
    if samples.0 == 1 || first.outcome != Outcome::Fail {
        return first;
    }
    let mut all = vec![first];
    let majority = samples.0 as usize / 2 + 1;
    for sample in 1..samples.0 {
        all.push(once(sample, asker));
        let count = |outcome| all.iter().filter(|one| one.outcome == outcome).count();
        if count(Outcome::Pass) >= majority || count(Outcome::Fail) >= majority {
            break;
        }
    }
    confirmed(&all, rubric.threshold)
}

/// The combined result of several opinions.
fn confirmed(all: &[Opinion], threshold: f64) -> Opinion {
    let count = |outcome| all.iter().filter(|one| one.outcome == outcome).count();
    let (passes, fails) = (count(Outcome::Pass), count(Outcome::Fail));
    let votes = all.iter().map(Opinion::vote).collect();
    let replayed = all.iter().all(|one| one.replayed);
    let outcome = match passes.cmp(&fails) {
        std::cmp::Ordering::Greater => Outcome::Pass,
        std::cmp::Ordering::Less => Outcome::Fail,
        std::cmp::Ordering::Equal => Outcome::Undecided,
    };
    let mut winner = match outcome {
        Outcome::Undecided => None,
        _ => all.iter().find(|one| one.outcome == outcome).cloned(),
    };
    let told = winner.get_or_insert_with(|| Opinion {
        model: all.first().map(|one| one.model.clone()).unwrap_or_default(),
        reason: Some(format!(
            "{passes} of the opinions pass it, and {fails} fail it"
        )),
        ..Opinion::new(Outcome::Undecided, threshold)
    });
    let scores: Vec<f64> = all
        .iter()
        .filter(|one| one.outcome == outcome)
        .filter_map(|one| one.score)
        .collect();
    told.score = mean(&scores);
    told.votes = votes;
    told.replayed = replayed;
    told.clone()
}

#[expect(clippy::cast_precision_loss, reason = "there are at most nine")]
fn mean(scores: &[f64]) -> Option<f64> {
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

/// One opinion in the making.
struct Judging<'j> {
    rubric: &'j Rubric,
    candidate: Candidate<'j>,
    model: &'j Model,
    sample: u32,
    asker: &'j mut dyn Asker,
    replayed: bool,
}

/// The result of one question: a score and a reason, or why there is none.
type JudgeResult<T> = Result<T, (Outcome, String)>;

impl Judging<'_> {
    fn opinion(mut self) -> Opinion {
        let rubric = self.rubric;
        let mut opinion = Opinion::new(Outcome::Error, rubric.threshold);
        let judged = match &rubric.form {
            Form::Text(text) => self.text(text, &mut opinion),
            Form::Criteria(criteria) => self.criteria(criteria, &mut opinion),
            Form::Tree(root) => self.tree(root, &mut opinion),
        };
        match judged {
            Ok(passes) => opinion.outcome = Outcome::of(passes),
            Err((outcome, why)) => {
                opinion.outcome = outcome;
                opinion.reason = Some(why);
            }
        }
        opinion.model = self.model.to_string();
        opinion.strict = rubric.strict;
        opinion.replayed = self.replayed && opinion.outcome.is_decided();
        opinion
    }

    fn text(&mut self, text: &str, opinion: &mut Opinion) -> JudgeResult<bool> {
        let verdict = self.ask(text, None)?;
        let score = verdict.points();
        opinion.score = Some(score);
        let passes = if self.rubric.strict {
            self.rubric.takes(score)
        } else {
            verdict.passes(self.rubric.threshold)
        };
        opinion.reason = verdict.reason;
        Ok(passes)
    }

    fn criteria(&mut self, criteria: &[Criterion], opinion: &mut Opinion) -> JudgeResult<bool> {
        let (mut sum, mut weights) = (0.0, 0.0);
        for one in criteria {
            let verdict = self.ask(&one.description, one.about.as_deref())?;
            let score = verdict.points();
            sum += one.weight * score;
            weights += one.weight;
            opinion.findings.push(Finding {
                name: one.name.clone(),
                weight: one.weight,
                score,
                reason: verdict.reason,
            });
        }
        if weights <= 0.0 {
            return Err((Outcome::Error, "the rubric has no criterion".to_owned()));
        }
        // Rounded, so that a mean of 0.7 is 0.7, and that of all ones is 1, whatever the weights
        // are.
        let score = (sum / weights * 1e9).round() / 1e9;
        opinion.score = Some(score);
        Ok(self.rubric.takes(score))
    }

    fn tree(&mut self, root: &Node, opinion: &mut Opinion) -> JudgeResult<bool> {
        let mut node = root;
        loop {
            match node {
                Node::Ask { ask, yes, no } => {
                    let verdict = self.ask(ask, None)?;
                    let score = verdict.points();
                    let is_yes = score >= Node::YES;
                    opinion.path.push(Step {
                        ask: ask.clone(),
                        yes: is_yes,
                        score,
                        reason: verdict.reason,
                    });
                    node = if is_yes { yes } else { no };
                }
                Node::Score { score, reason } => {
                    opinion.score = Some(*score);
                    opinion.reason.clone_from(reason);
                    return Ok(self.rubric.takes(*score));
                }
            }
        }
    }

    fn ask(&mut self, question: &str, about: Option<&str>) -> JudgeResult<crate::Verdict> {
        let call = Call {
            model: self.model.clone(),
            question: question.to_owned(),
            subject: self.candidate.subject,
            candidate: about.unwrap_or(self.candidate.text).to_owned(),
            sample: self.sample,
        };
        match ask(&call, self.asker) {
            AskOutcome::Judged { verdict, replayed } => {
                self.replayed &= replayed;
                Ok(verdict)
            }
            AskOutcome::Deferred(why) => Err((Outcome::Deferred, why)),
            AskOutcome::Failed(why) => Err((Outcome::Error, why)),
        }
    }
}
