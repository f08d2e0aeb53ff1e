//! How well judges agree with people who labelled the same examples.

use tapewright_judges::calibration::{Confusion, Labelled, NoProposal, Proposal, propose};
use tapewright_judges::{Opinion, Outcome};

/// Every judge, compared with the labels of one file.
#[derive(Debug)]
pub(crate) struct Calibrated {
    /// The file of the examples.
    pub(crate) file: String,
    /// How many examples it has.
    pub(crate) examples: usize,
    pub(crate) judges: Vec<Compared>,
    /// Notes next to the figures.
    pub(crate) notes: Vec<String>,
}

/// One judge, compared with the labels.
#[derive(Debug)]
pub(crate) struct Compared {
    /// A model, or `scorer NAME`.
    pub(crate) judge: String,
    pub(crate) confusion: Confusion,
    pub(crate) proposal: Result<Proposal, NoProposal>,
    /// The mean distance of its scores from those of the person, if there are any.
    pub(crate) mean_error: Option<f64>,
    /// The examples, in the order of the file.
    pub(crate) rows: Vec<Judged>,
}

/// The verdicts of a judge and a person on one example.
#[derive(Debug)]
pub(crate) struct Judged {
    /// The name of the example.
    pub(crate) example: String,
    /// Whether it passes, according to the person.
    pub(crate) label: bool,
    /// The person's score from 0 to 1.
    pub(crate) score: Option<f64>,
    pub(crate) opinion: Opinion,
}

impl Judged {
    /// Whether it passes, according to the judge; `None` if undecided.
    pub(crate) fn verdict(&self) -> Option<bool> {
        match self.opinion.outcome {
            Outcome::Pass => Some(true),
            Outcome::Fail => Some(false),
            Outcome::Undecided | Outcome::Deferred | Outcome::Error => None,
        }
    }

    /// Whether both agree.
    pub(crate) fn agrees(&self) -> Option<bool> {
        self.verdict().map(|verdict| verdict == self.label)
    }
}

impl Compared {
    /// The figures for the verdicts of a judge.
    pub(crate) fn of(judge: String, rows: Vec<Judged>) -> Self {
        let verdicts = rows
            .iter()
            .filter_map(|row| Some((row.label, row.verdict()?)));
        let decided = rows.iter().filter(|row| row.verdict().is_some());
        let scores = decided.filter_map(|row| Some((row, row.opinion.score?)));
        let labelled = scores.clone().map(|(row, score)| Labelled {
            label: row.label,
            score,
        });
        let distances = scores.filter_map(|(row, score)| Some((row.score? - score).abs()));
        Self {
            confusion: Confusion::of(verdicts),
            proposal: propose(&labelled.collect::<Vec<_>>()),
            mean_error: mean(&distances.collect::<Vec<_>>()),
            judge,
            rows,
        }
    }

    /// How many examples are undecided.
    pub(crate) fn undecided(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.verdict().is_none()).count()
    }

    /// Whether all verdicts come from the recording.
    pub(crate) fn is_replayed(&self) -> bool {
        let mut decided = self.rows.iter().filter(|row| row.verdict().is_some());
        decided.all(|row| row.opinion.replayed)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a file has few examples")]
fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}
