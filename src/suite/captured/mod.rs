//! Judges a suite by recordings: nothing is sent.
//!
//! A [`Scoring`] folds over events. [`run`] passes it those of a file; a recorder passes it those
//! of a running session.

mod coverage;
mod labels;
mod rows;

use std::path::Path;
use std::sync::Arc;

use tapewright_assertions::score::{Question, Scorer};
use tapewright_assertions::{Ask, Json, Test};
use tapewright_config::Suite;
use tapewright_schemas::capture::Capture;
use tapewright_schemas::event::{Event, Sink};
use tapewright_schemas::recording::Document;
use tapewright_schemas::tape::Ending;

pub(crate) use self::labels::Labels;
use super::judged;
use super::judging::TestJudge;
use super::plan::{Case, Plan, What};
use super::result::Results;
use super::world::{SuiteWorld, TestWorld};
use crate::files::folder::recordings;
use crate::files::{Contents, Recording};
use crate::report;

/// The selected cases of a suite, judged by each exchange of a recording.
#[derive(Debug)]
pub(crate) struct Scoring {
    plan: Arc<Plan>,
    chosen: Vec<usize>,
    shared: Arc<SuiteWorld>,
    // The cases that a recording can answer, by number.
    asked: Vec<usize>,
    // The judging of each of those cases.
    test_judges: Vec<Option<Arc<TestJudge>>>,
    scorer: Scorer<TestWorld>,
}

/// What a suite is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    /// A recording, or a folder of them.
    pub(crate) path: &'a Path,
    /// Its server, regardless of its label.
    pub(crate) label: Option<&'a str>,
}

/// Judges the selected cases of a suite by recordings.
pub(crate) fn run(
    suite: &Suite,
    plan: &Arc<Plan>,
    chosen: &[usize],
    evidence: &Evidence<'_>,
    shared: &Arc<SuiteWorld>,
) -> anyhow::Result<Results> {
    let mut scoring = Scoring::new(Arc::clone(plan), chosen.to_vec(), Arc::clone(shared))?;
    let files = if evidence.path.is_dir() {
        recordings(evidence.path)?
    } else {
        vec![evidence.path.to_owned()]
    };
    let opened = files.iter().map(|file| Recording::open_slowly(file));
    let opened: Vec<Recording> = opened.collect::<anyhow::Result<_>>()?;
    let labels: Vec<String> = match evidence.label {
        Some(label) => vec![label.to_owned()],
        None => opened.iter().flat_map(labels_of).collect(),
    };
    let labels = Labels::of(suite, labels.iter().map(String::as_str));
    labels.notes.iter().for_each(|note| report::note(note));
    for recording in opened {
        scoring.recording(recording, evidence.label, &labels)?;
    }
    Ok(scoring.finish())
}

/// The labels of the servers in a recording.
fn labels_of(recording: &Recording) -> Vec<String> {
    match &recording.contents {
        Contents::Document(Document::Capture(capture), _) => capture
            .sessions
            .iter()
            .map(|one| one.label.clone())
            .collect(),
        _ => vec![recording.header().label],
    }
}

impl Scoring {
    /// The cases before the first recording, with their requests after transforms.
    pub(crate) fn new(
        plan: Arc<Plan>,
        chosen: Vec<usize>,
        shared: Arc<SuiteWorld>,
    ) -> anyhow::Result<Self> {
        let (mut asked, mut test_judges) = (Vec::new(), Vec::new());
        let mut questions = Vec::new();
        for number in &chosen {
            let Some(case) = plan.cases.get(*number) else {
                continue;
            };
            let What::Ask {
                test,
                request_transform,
            } = &case.what
            else {
                continue;
            };
            if case.options.skip.is_some() {
                continue;
            }
            let world = judged::world(case, test, &shared);
            let rewritten = match request_transform {
                None => None,
                Some(command) => Some(rewritten(case, test, command, &world)?),
            };
            let shown = shown(rewritten.as_ref().unwrap_or(&test.ask), &shared);
            test_judges.push(world.test_judge.clone());
            questions.push(Question {
                test: Arc::clone(test),
                rewritten,
                shown,
                world,
            });
            asked.push(*number);
        }
        Ok(Self {
            plan,
            chosen,
            shared,
            asked,
            test_judges,
            scorer: Scorer::new(questions),
        })
    }

    /// Judges by one recording.
    fn recording(
        &mut self,
        recording: Recording,
        label: Option<&str>,
        labels: &Labels<'_>,
    ) -> anyhow::Result<()> {
        let timed = recording.timed();
        if let Contents::Document(Document::Capture(capture), _) = &recording.contents {
            for session in &capture.sessions {
                let alone = Capture {
                    sessions: vec![session.clone()],
                    array: false,
                };
                self.enter(labels.server(label.unwrap_or(&session.label)), timed);
                for event in &alone.recording().events {
                    self.record(event);
                }
            }
            return Ok(());
        }
        let own = recording.header().label;
        self.enter(labels.server(label.unwrap_or(&own)), timed);
        let frame = recording.events(|event| {
            self.record(event);
            Ok(())
        })?;
        if let Ending::CutShort { .. } = frame.ending {
            self.scorer.gap();
        }
        Ok(())
    }

    /// Sets the server of the events that follow; `timed` says whether they have times.
    pub(crate) fn enter(&mut self, server: Option<&str>, timed: bool) {
        self.scorer.enter(server, timed);
    }

    /// The results.
    pub(crate) fn finish(self) -> Results {
        let (scored, coverage) = self.scorer.finish();
        let mut results = Results::default();
        let told = scored.iter().zip(&self.test_judges);
        let mut scored = self.asked.iter().zip(told).peekable();
        for number in &self.chosen {
            let Some(case) = self.plan.cases.get(*number) else {
                continue;
            };
            if let Some(why) = &case.options.skip {
                results.rows.push(judged::skipped(*number, case, why));
                continue;
            }
            let of_this = scored.next_if(|(one, _)| **one == *number);
            let row = match (&case.what, of_this) {
                (What::Inject { test, error }, _) => {
                    judged::injected(*number, case, test, error, &self.shared)
                }
                (_, Some((_, (scored, test_judge)))) => {
                    let mut row = rows::row(*number, case, scored, &coverage);
                    if let Some(test_judge) = test_judge {
                        test_judge.settle(&mut row);
                    }
                    row
                }
                (What::Agent(_), _) => rows::agent(*number, case),
                (What::Eval(_), _) => judged::skipped(*number, case, judged::EVAL),
                (_, None) => rows::composition(*number, case),
            };
            results.rows.push(row);
        }
        let name = |number: &usize| {
            let asked = self.asked.get(*number)?;
            Some(self.plan.cases.get(*asked)?.name.clone())
        };
        results.tools = coverage::tools(&coverage, &name);
        results.notes.extend(coverage::gaps(&coverage));
        results
    }
}

impl Sink for Scoring {
    fn record(&mut self, event: &Event) {
        self.scorer.record(event);
    }
}

/// The request of a test after its transform.
fn rewritten(
    case: &Case,
    test: &Test,
    command: &[String],
    world: &TestWorld,
) -> anyhow::Result<Ask> {
    judged::rewritten(&test.ask, command, world).map_err(|why| {
        let what = format!("cannot compare with `{}`: {why}", case.name);
        report::Mistake::new(what, "check that the command works on its own").into()
    })
}

/// The recorded form of a request, if it differs: secrets by the rules of the suite are not
/// recorded.
fn shown(ask: &Ask, shared: &SuiteWorld) -> Option<Ask> {
    let request = Json::object([
        ("jsonrpc", "2.0".into()),
        ("method", ask.method().into()),
        ("params", ask.params()),
    ]);
    let redacted = shared.redacted(&request);
    let shown = ask.with_params(redacted.get("params")?);
    (shown != *ask).then_some(shown)
}
