//! Judging by several models.

use crate::alpha;
use crate::call::{Asker, Model};
use crate::judge::{Candidate, Samples, judge};
use crate::opinion::{JurorOpinion, Opinion, Outcome};
use crate::rubric::Rubric;

/// Several models that judge by the same rubric, each alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Jury {
    /// The jurors.
    pub jurors: Vec<Juror>,
    /// The criterion.
    pub rubric: String,
    /// The minimum score to pass, for jurors without their own.
    pub threshold: f64,
    /// The minimum share of the votes that must pass it, from 0 to 1.
    pub quorum: f64,
}

/// One member of a jury.
#[derive(Clone, Debug, PartialEq)]
pub struct Juror {
    /// The model.
    pub model: Model,
    /// The least score that passes with this juror.
    pub threshold: Option<f64>,
}

impl Jury {
    /// The default quorum.
    pub const QUORUM: f64 = 0.5;

    /// Asks every juror. Those that failed or could not be asked abstain: they count neither for
    /// nor against it.
    pub fn judge(&self, candidate: Candidate<'_>, asker: &mut dyn Asker) -> Opinion {
        let mut replayed = true;
        let mut told = Vec::with_capacity(self.jurors.len());
        for juror in &self.jurors {
            let threshold = juror.threshold.unwrap_or(self.threshold);
            let rubric = Rubric::text(self.rubric.clone(), threshold);
            let opinion = judge(&rubric, candidate, &juror.model, Samples::ONE, asker);
            replayed &= opinion.replayed || !opinion.outcome.is_decided();
            told.push(JurorOpinion {
                model: juror.model.to_string(),
                threshold,
                vote: opinion.vote(),
            });
        }
        self.opinion(told, replayed)
    }

    fn opinion(&self, jurors: Vec<JurorOpinion>, replayed: bool) -> Opinion {
        let mut opinion = Opinion::new(Outcome::Error, self.threshold);
        let eligible = jurors.iter().filter(|one| one.vote.outcome.is_decided());
        let scores: Vec<f64> = eligible.clone().filter_map(|one| one.vote.score).collect();
        let passing = eligible
            .clone()
            .filter(|one| one.vote.outcome == Outcome::Pass);
        let (passing, eligible) = (passing.count(), eligible.count());
        opinion.quorum = Some(self.quorum);
        if eligible == 0 {
            (opinion.outcome, opinion.reason) = nobody(&jurors);
        } else {
            let fraction = fraction(passing, eligible);
            opinion.outcome = Outcome::of(fraction >= self.quorum);
            opinion.pass_fraction = Some(fraction);
            opinion.score = Some(scores.iter().sum::<f64>() / count(scores.len()));
            opinion.agreement = alpha::of_one(&scores);
            opinion.replayed = replayed;
        }
        opinion.jurors = jurors;
        opinion
    }
}

/// The result of a jury of which no juror judged: deferred if no juror could be asked, otherwise a
/// failure of the judges.
fn nobody(jurors: &[JurorOpinion]) -> (Outcome, Option<String>) {
    let of = |outcome| jurors.iter().find(|one| one.vote.outcome == outcome);
    let (outcome, first) = match (of(Outcome::Error), of(Outcome::Deferred)) {
        (Some(failed), _) => (Outcome::Error, Some(failed)),
        (None, Some(deferred)) => (Outcome::Deferred, Some(deferred)),
        (None, None) => (Outcome::Error, None),
    };
    let reason = first.and_then(|one| one.vote.reason.clone());
    (outcome, reason)
}

fn fraction(part: usize, whole: usize) -> f64 {
    count(part) / count(whole)
}

#[expect(clippy::cast_precision_loss, reason = "a jury has few members")]
fn count(number: usize) -> f64 {
    number as f64
}
