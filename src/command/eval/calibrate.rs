//! `tapewright eval --calibrate`: compares judges with people who labelled examples.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tapewright_config::calibration::{Calibration, Example, SuiteNames, load_calibration};
use tapewright_judges::scorer::Task;
use tapewright_judges::{Candidate, Opinion, Rubric, Samples, Subject, of_answer};

use super::Arguments;
use crate::command::compliance::corpora::sound;
use crate::command::reporters;
use crate::command::suites::Ready;
use crate::exit::Exit;
use crate::files::Disk;
use crate::report::progress::Progress;
use crate::report::suite::Redaction;
use crate::report::{self, Mistake, calibration};
use crate::suite::calibration::{Calibrated, Compared, Judged};
use crate::suite::judging::{Judges, JudgingTask, TestJudge};
use crate::suite::models;
use crate::suite::plan::{By, Kind, Scoring, written};

/// Compares the judges of a file with its labels. The exit status is 3 if an example was not
/// judged.
pub(super) fn run(
    arguments: &Arguments,
    file: &Path,
    interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<Exit> {
    for one in &arguments.reporters() {
        calibration::check(one.format())?;
    }
    let Some(mut ready) = suite(arguments, file)? else {
        return Ok(Exit::Unusable);
    };
    let calibrated = Calibrating::new(arguments, file, &mut ready, interrupted)?.carry_out();
    let text = reporters::write_each(&arguments.reporters(), |format| {
        calibration::text(&calibrated, format)
    })?;
    match &arguments.output {
        Some(file) => reporters::write_file(file, &text)?,
        None => report::out(&text)?,
    }
    Ok(if interrupted.load(Ordering::Relaxed) {
        Exit::External(130)
    } else if calibrated.judges.iter().any(|one| one.undecided() > 0) {
        Exit::Inconclusive
    } else {
        Exit::Pass
    })
}

/// The suite with providers, rubrics and scorers; `None` if it cannot be used, which has been
/// reported.
fn suite(arguments: &Arguments, file: &Path) -> anyhow::Result<Option<Ready>> {
    let mut suites = arguments.suites.iter().chain(&arguments.config);
    let ready = match (suites.next(), suites.next()) {
        (None, _) => Some(Ready::none(file)),
        (Some(path), None) => Ready::load(path, &arguments.variables, false, |_| Ok(()))?.ok(),
        (Some(_), Some(_)) => {
            let what = "`--calibrate` takes at most one suite";
            return Err(Mistake::new(
                what,
                "give the suite whose providers, rubrics and scorers the examples use",
            )
            .into());
        }
    };
    Ok(ready)
}

/// Who judges one example: a model, or a program.
enum Judge<'j> {
    Model {
        name: Option<&'j str>,
        rubric: Rubric,
    },
    Scorer(Scoring),
}

/// The test name under which judgements of examples are recorded.
const BY: &str = "calibration";

struct Calibrating<'c> {
    file: &'c Path,
    ready: &'c Ready,
    examples: Calibration,
    test_judge: TestJudge,
    judges: Arc<Judges>,
    interrupted: &'c AtomicBool,
}

impl<'c> Calibrating<'c> {
    fn new(
        arguments: &Arguments,
        file: &'c Path,
        ready: &'c mut Ready,
        interrupted: &'c Arc<AtomicBool>,
    ) -> anyhow::Result<Self> {
        let known = SuiteNames {
            rubrics: ready
                .suite
                .rubrics
                .iter()
                .map(|(name, _)| name.as_str())
                .collect(),
            scorers: ready
                .suite
                .scorers
                .iter()
                .map(|one| one.name.as_str())
                .collect(),
        };
        let read = load_calibration(file, &Disk, &known);
        let examples = sound(&file.display().to_string(), read)?;
        // Those of the file come first, so that they take precedence.
        let own = examples.rubrics.iter().cloned();
        ready.suite.rubrics.splice(0..0, own);
        let variables = ready.variables();
        let keys = models::keys(&ready.suite, &variables);
        ready.hide(&keys);
        let money = arguments.money.money(&ready.suite, &Arc::default())?;
        let how = arguments.judges.options(arguments.record);
        let judges = ready.judges(how, &variables, &money, interrupted);
        let judges = Arc::new(judges.of_file(file));
        Ok(Self {
            file,
            ready,
            examples,
            test_judge: TestJudge::new(&judges, Kind::Eval, "calibration", None, None),
            judges,
            interrupted,
        })
    }

    fn carry_out(&self) -> Calibrated {
        let mut all: Vec<(String, Vec<Judged>)> = Vec::new();
        let mut redaction = Redaction::new(&self.ready.rules);
        let mut progress = Progress::count(self.examples.examples.len());
        for example in &self.examples.examples {
            progress.step(&redaction.text(&example.name));
            for judge in self.judges_of(example) {
                if self.interrupted.load(Ordering::Relaxed) {
                    break;
                }
                let mut opinion = self.opinion(&judge, example);
                opinion.reason = opinion.reason.map(|reason| redaction.text(&reason));
                let name = opinion.model.clone();
                let row = Judged {
                    example: redaction.text(&example.name),
                    label: example.label,
                    score: example.score,
                    opinion,
                };
                match all.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, rows)) => rows.push(row),
                    None => all.push((name, vec![row])),
                }
            }
        }
        drop(progress);
        let judges = all
            .into_iter()
            .map(|(judge, rows)| Compared::of(judge, rows));
        let (cost, kept) = self.test_judge.close();
        let cost = cost.map(|cost| format!("{} requests to judges: {cost}", cost.asked));
        let notes = cost.into_iter().chain(kept.err()).chain(self.judges.note());
        Calibrated {
            file: self.file.display().to_string(),
            examples: self.examples.examples.len(),
            judges: judges.collect(),
            notes: notes.collect(),
        }
    }

    /// The judges of an example: its scorer, the models named by the file, or the default judge.
    fn judges_of(&self, example: &Example) -> Vec<Judge<'_>> {
        let rubric = match written(&self.ready.suite, &example.rubric, None) {
            By::Scorer(scoring) => return vec![Judge::Scorer(scoring)],
            By::Rubric(rubric) => rubric,
            // Files of examples have no metrics.
            By::Metric { .. } => return Vec::new(),
        };
        let judges = &self.examples.judges;
        let names: Vec<Option<&str>> = if judges.is_empty() {
            vec![None]
        } else {
            judges.iter().map(|name| Some(name.as_str())).collect()
        };
        let judge = |name| Judge::Model {
            name,
            rubric: rubric.clone(),
        };
        names.into_iter().map(judge).collect()
    }

    fn opinion(&self, judge: &Judge<'_>, example: &Example) -> Opinion {
        let (model, rubric) = match judge {
            Judge::Model { name, rubric } => (*name, rubric),
            Judge::Scorer(scoring) => {
                let task = Task {
                    input: &example.input,
                    output: &example.output,
                    criteria: &scoring.criteria,
                    metadata: &[("test", &example.name), ("scorer", &scoring.scorer.name)],
                };
                return self.test_judge.scored(BY, scoring, &task);
            }
        };
        // Judged like a run without tools; without a question, the answer alone.
        let run = of_answer(&example.input, &example.output);
        let candidate = if example.input.is_empty() {
            Candidate {
                subject: Subject::Text,
                text: &example.output,
            }
        } else {
            Candidate {
                subject: Subject::Run,
                text: &run,
            }
        };
        self.test_judge.judge(&JudgingTask {
            by: BY,
            rubric,
            candidate,
            model,
            samples: Samples::ONE,
        })
    }
}
