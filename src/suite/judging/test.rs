//! The judging of one test.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tapewright_judges::{Candidate, Jury, Model, Opinion, Outcome, Record, Rubric, Samples, judge};
use tapewright_proxy::provider::Provider;

use super::asking::{Asking, Mode};
use super::{Judges, file};
use crate::suite::models::{Choice, TestBudget, choose, default_keys, default_model};
use crate::suite::plan::Kind;
use crate::suite::result::{Cost, Judgement, Row, Status};

/// The judging of one test: its recording, its costs, its opinions.
#[derive(Debug)]
pub(crate) struct TestJudge {
    judges: Arc<Judges>,
    path: PathBuf,
    /// The model of the tested agent, which judges itself by default.
    own: Option<Model>,
    state: Mutex<State>,
}

/// The changing state of the judging.
#[derive(Debug)]
pub(super) struct State {
    /// The judgements that were recorded before.
    pub(super) record: Record,
    /// Why the recording cannot be read.
    pub(super) unreadable: Option<String>,
    /// The recorded judgements that were used, and the new ones.
    pub(super) kept: Record,
    /// How many judgements are new.
    pub(super) fresh: usize,
    pub(super) test_budget: TestBudget,
    /// Why no more judges are asked.
    pub(super) over: Option<String>,
    pub(super) providers: HashMap<Model, Provider>,
    judgements: Vec<Judgement>,
    pub(super) warnings: BTreeSet<String>,
}

/// Something for one model to judge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgingTask<'m> {
    /// The matcher or metric that asks.
    pub(crate) by: &'static str,
    pub(crate) rubric: &'m Rubric,
    pub(crate) candidate: Candidate<'m>,
    /// The judge, if the suite names one.
    pub(crate) model: Option<&'m str>,
    pub(crate) samples: Samples,
}

impl TestJudge {
    /// The judging of a test. `test_budget` is what the test may still spend, if there is a limit.
    pub(crate) fn new(
        judges: &Arc<Judges>,
        kind: Kind,
        name: &str,
        own: Option<Model>,
        test_budget: Option<TestBudget>,
    ) -> Self {
        let path = judges.file(kind, name);
        let (record, unreadable) = match file::read(&path) {
            Ok(record) => (record, None),
            Err(why) => (Record::default(), Some(why)),
        };
        let state = State {
            record,
            unreadable,
            kept: Record {
                test: name.to_owned(),
                calls: Vec::new(),
            },
            fresh: 0,
            test_budget: test_budget.unwrap_or_else(|| TestBudget::new(&judges.money)),
            over: None,
            providers: HashMap::new(),
            judgements: Vec::new(),
            warnings: BTreeSet::new(),
        };
        Self {
            judges: Arc::clone(judges),
            path,
            own,
            state: Mutex::new(state),
        }
    }

    /// Judges by one model.
    pub(crate) fn judge(&self, matter: &JudgingTask<'_>) -> Opinion {
        let model = self.model(matter.model, &self.state());
        let Some(model) = model else {
            let opinion = nobody(matter.rubric.threshold);
            return self.state().told(matter.by, opinion, None);
        };
        self.carry_out(matter.by, self.has_key(&model), |asking| {
            let (rubric, candidate) = (matter.rubric, matter.candidate);
            judge(rubric, candidate, &model, matter.samples, asking)
        })
    }

    /// Judges by several models.
    pub(crate) fn jury(&self, by: &'static str, jury: &Jury, candidate: Candidate<'_>) -> Opinion {
        let can_ask = jury.jurors.iter().any(|one| self.has_key(&one.model));
        self.carry_out(by, can_ask, |asking| jury.judge(candidate, asking))
    }

    /// The model that a suite writes as one string.
    pub(crate) fn named(&self, text: &str) -> Model {
        self.judges.model(text)
    }

    /// Adds the opinions and costs since the last row to a row, and records the judgements.
    pub(crate) fn settle(&self, row: &mut Row) {
        let mut state = self.state();
        row.judgements.append(&mut state.judgements);
        row.warnings.extend(std::mem::take(&mut state.warnings));
        let (cost, models) = state.test_budget.take();
        row.cost = match (row.cost, cost) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other),
        };
        row.models.extend(models);
        let wholly = row
            .judgements
            .iter()
            .all(|one| one.opinion.outcome.is_decided());
        if let Err(why) = self.keep(&mut state, wholly) {
            row.status = Status::Error;
            row.reasons.push(why);
        }
    }

    /// The remaining costs, and whether the judgements could be recorded; for the end, when no row
    /// follows.
    pub(crate) fn close(&self) -> (Option<Cost>, Result<(), String>) {
        let mut state = self.state();
        let judgements = std::mem::take(&mut state.judgements);
        let mut outcomes = judgements.iter().map(|one| one.opinion.outcome);
        let wholly = outcomes.all(Outcome::is_decided);
        let (cost, _) = state.test_budget.take();
        (cost, self.keep(&mut state, wholly))
    }

    /// Records the judgements. If some are undecided, no recorded ones are dropped.
    fn keep(&self, state: &mut State, wholly: bool) -> Result<(), String> {
        if !self.judges.how.record || state.kept.calls.is_empty() {
            return Ok(());
        }
        let used = self.judges.used.lock();
        let mut used = used.unwrap_or_else(PoisonError::into_inner);
        let all = used.entry(self.path.clone()).or_default();
        all.test.clone_from(&state.kept.test);
        for one in &state.kept.calls {
            all.put(one.clone());
        }
        let mut record = all.clone();
        for one in state.record.calls.iter().filter(|_| !wholly) {
            if record.find(&one.key).is_err() {
                record.calls.push(one.clone());
            }
        }
        if record == state.record {
            return Ok(());
        }
        let written = file::write(&self.path, &record, &self.judges.rules);
        written.map_err(|error| format!("cannot write its judgements: {error:#}"))?;
        state.record = record;
        let written = self.judges.written.lock();
        written
            .unwrap_or_else(PoisonError::into_inner)
            .insert(self.path.clone());
        Ok(())
    }

    /// The judge: from the suite, the agent's own model, from the command, from the recording, or
    /// the first family whose key is set.
    fn model(&self, named: Option<&str>, state: &State) -> Option<Model> {
        let judges = &self.judges;
        let named = named.map(|text| judges.model(text));
        let told = || judges.how.model.as_deref().map(|text| judges.model(text));
        named
            .or_else(|| self.own.clone())
            .or_else(told)
            .or_else(|| state.record.model().cloned())
            .or_else(|| default_model(&judges.variables.0))
    }

    /// Judges in the mode of the command. `can_ask` says whether a judge can be asked again.
    pub(super) fn carry_out(
        &self,
        by: &'static str,
        can_ask: bool,
        each: impl Fn(&mut Asking<'_>) -> Opinion,
    ) -> Opinion {
        let state = &mut *self.state();
        let mut once = |mode| {
            each(&mut Asking {
                judges: &self.judges,
                state: &mut *state,
                mode,
                can_ask,
                pending: Vec::new(),
            })
        };
        if !self.judges.how.rejudge {
            let opinion = once(Mode::Usual);
            return state.told(by, opinion, None);
        }
        let was = once(Mode::Recorded);
        let was = was.outcome.is_decided().then_some(was);
        if can_ask {
            let opinion = once(Mode::Anew);
            let moved = was.filter(|was| was.moved(&opinion));
            return state.told(by, opinion, moved);
        }
        if was.is_some() {
            state.warnings.insert(KEPT.to_owned());
        }
        let opinion = once_more(&self.judges, state, &each);
        state.told(by, opinion, None)
    }

    pub(super) fn has_key(&self, model: &Model) -> bool {
        let choice = choose(model, &self.judges.providers, &self.judges.variables.0);
        matches!(choice, Ok(Choice::Provider(_)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Judges without asking any judge again.
fn once_more(
    judges: &Judges,
    state: &mut State,
    each: &impl Fn(&mut Asking<'_>) -> Opinion,
) -> Opinion {
    each(&mut Asking {
        judges,
        state,
        mode: Mode::Usual,
        can_ask: false,
        pending: Vec::new(),
    })
}

impl State {
    fn told(&mut self, by: &'static str, opinion: Opinion, was: Option<Opinion>) -> Opinion {
        self.judgements.push(Judgement {
            by,
            opinion: opinion.clone(),
            was,
        });
        opinion
    }
}

/// The opinion if there is no judge.
fn nobody(threshold: f64) -> Opinion {
    let keys = default_keys();
    let why = format!("no judge given, and no key set: {keys}");
    Opinion {
        reason: Some(why),
        ..Opinion::new(Outcome::Deferred, threshold)
    }
}

/// Why a verdict was not asked for again.
pub(super) const KEPT: &str = "the key of the judge is not set, and the recorded verdict is kept";
