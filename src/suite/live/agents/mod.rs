//! Agent tests and evaluations: from a cassette, or with a model and its servers.
//!
//! A test with a cassette is judged by that, without a server and without a key. Others are run,
//! several in parallel, each with separate connections.

pub(crate) mod cassette;
mod drive;
mod eval;
mod measured;
mod rows;
pub(super) mod wire;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_agents::{Finished, Stub};
use tapewright_config::Suite;
use tapewright_models::agent_cassette::AgentCassette;
use tapewright_proxy::clock::Clock;
use tapewright_schemas::order::Order as _;

use self::cassette::RecordedRun;
use self::drive::Ran;
use self::rows::{Evidence, rows};
use super::{INTERRUPTED, Options};
use crate::suite::judged;
use crate::suite::judging::TestJudge;
use crate::suite::models::{Choice, Connector, Money, TestBudget, choose};
use crate::suite::plan::{AgentCase, Case, Plan, What};
use crate::suite::result::{Row, Status};
use crate::suite::world::SuiteWorld;

/// How to run agent tests.
#[derive(Clone)]
pub(crate) struct AgentOptions {
    /// The folder of their cassettes.
    pub(crate) folder: PathBuf,
    /// Whether tests without a cassette, or with a stale one, are recorded.
    pub(crate) record: bool,
    /// Whether all are recorded again.
    pub(crate) update: bool,
    /// The receiver of the runs.
    pub(crate) capture: Option<Capture>,
    /// Whether the tools in a cassette are compared with those of the servers before it is used.
    pub(crate) check_tools: bool,
    /// The costs of models, and the caps.
    pub(crate) money: Arc<Money>,
    /// How to run evaluations; without, they are skipped.
    pub(crate) evals: Option<EvalOptions>,
}

/// How to run evaluations.
#[derive(Clone)]
pub(crate) struct EvalOptions {
    /// The model that answers, if the command names one.
    pub(crate) model: Option<String>,
}

/// A receiver of the runs themselves, recorded or new.
#[derive(Clone)]
pub(crate) struct Capture {
    /// The list that they are added to.
    pub(crate) runs: Arc<Mutex<Vec<CapturedRun>>>,
    /// Whether the model is asked even if there is a cassette; no cassette is written then.
    pub(crate) fresh: bool,
}

/// The run of an agent test, without secrets.
pub(crate) struct CapturedRun {
    /// Its index among the cases of the plan.
    pub(crate) case: usize,
    pub(crate) cassette: AgentCassette,
}

/// The selected agent tests of a suite.
pub(super) struct Agents<'a> {
    pub(super) suite: &'a Suite,
    pub(super) plan: &'a Plan,
    /// The options of the suite, without recording: the traffic of agents with their servers is in
    /// their cassettes.
    pub(super) options: Options,
    pub(super) how: &'a AgentOptions,
    pub(super) shared: &'a Arc<SuiteWorld>,
    recorded: AtomicUsize,
    pub(super) connector: Connector,
}

impl<'a> Agents<'a> {
    pub(super) fn new(
        suite: &'a Suite,
        plan: &'a Plan,
        options: &Options,
        how: &'a AgentOptions,
        shared: &'a Arc<SuiteWorld>,
    ) -> Self {
        let options = Options {
            record: None,
            ..options.clone()
        };
        Self {
            suite,
            plan,
            options,
            how,
            shared,
            recorded: AtomicUsize::new(0),
            connector: Connector::default(),
        }
    }

    /// Runs them, up to the limit in parallel; `over` gets each row.
    pub(super) fn run(
        &self,
        chosen: &[usize],
        stopped: impl Fn() -> Option<&'static str> + Sync,
        over: impl Fn(&Row) + Sync,
    ) -> (Vec<Row>, Vec<String>) {
        let next = AtomicUsize::new(0);
        let done = Mutex::new((Vec::new(), Vec::new()));
        let work = || {
            while let Some(number) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Some(case) = self.plan.cases.get(*number) else {
                    continue;
                };
                let (mut rows, notes) = match (stopped(), &case.what) {
                    (Some(why), _) => (vec![judged::skipped(*number, case, why)], Vec::new()),
                    (None, What::Agent(agent)) => self.one(*number, case, agent),
                    (None, What::Eval(eval)) => self.eval(*number, case, eval),
                    (None, _) => continue,
                };
                if self.options.interrupted.load(Ordering::Relaxed) {
                    rows = vec![judged::skipped(*number, case, INTERRUPTED)];
                }
                let bad = |row: &&Row| matches!(row.status, Status::Error | Status::Fail);
                if let Some(row) = rows.iter().find(bad).or(rows.first()) {
                    over(row);
                }
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                done.0.extend(rows);
                done.1.extend(notes);
            }
        };
        let threads = self.options.parallel.clamp(1, chosen.len().max(1));
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        let (mut rows, mut notes) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.order_by_key(|row: &Row| row.case);
        notes.extend(match self.recorded.load(Ordering::Relaxed) {
            0 => None,
            1 => Some("1 agent cassette recorded".to_owned()),
            count => Some(format!("{count} agent cassettes recorded")),
        });
        (rows, notes)
    }

    fn one(&self, number: usize, case: &Case, agent: &AgentCase) -> (Vec<Row>, Vec<String>) {
        let clock = Clock::start();
        let choice = choose(&agent.model, &self.suite.providers, &self.options.variables);
        let has_key = matches!(choice, Ok(Choice::Provider(_)));
        let known = cassette::read(&self.how.folder, agent);
        // The output of the stub never replaces a model's.
        let is_empty = match &known {
            Ok(Some(known)) => Stub::made(&known.cassette.trace),
            Ok(None) => false,
            Err(_) => true,
        };
        let fresh = self.how.capture.as_ref().is_some_and(|one| one.fresh);
        let wanted = self.how.update || fresh || self.how.record && is_empty;
        let anew = has_key && wanted;
        if let (Ok(Choice::Stub { why, .. }), true) = (&choice, fresh) {
            let why = format!("{why}, and the model was to be asked");
            return (unusable(number, case, why), Vec::new());
        }
        match known {
            Ok(Some(known)) if !anew => match cassette::check(&known, agent, &self.options.rules) {
                Ok(()) => return (self.replay(number, case, agent, known, clock), Vec::new()),
                Err(_) if has_key && self.how.record => {}
                Err(stale) => return (unusable(number, case, stale.to_string()), Vec::new()),
            },
            Err(why) if !anew => return (unusable(number, case, why), Vec::new()),
            _ => {}
        }
        match choice {
            Ok(choice) => self.live(number, case, agent, choice, clock),
            Err(why) => (unusable(number, case, why), Vec::new()),
        }
    }

    fn replay(
        &self,
        number: usize,
        case: &Case,
        agent: &AgentCase,
        known: RecordedRun,
        clock: Clock,
    ) -> Vec<Row> {
        if self.how.check_tools
            && let Err(why) = self.same_tools(agent, &known)
        {
            return unusable(number, case, why);
        }
        self.hand_over(number, &known.cassette);
        let trace = known.cassette.trace;
        let finished = Finished {
            hung: drive::faults(agent).met(&trace),
            trace,
            trip: None,
            warnings: self
                .how
                .update
                .then(|| KEPT.to_owned())
                .into_iter()
                .collect(),
        };
        let evidence = Evidence {
            finished: &finished,
            stub: None,
            replay: true,
            took: clock.elapsed(),
            test_judge: self.test_judge(case, agent, None),
        };
        let judged = rows(number, case, agent, self.suite, &evidence, self.shared);
        let took = clock.elapsed();
        let timed = judged.into_iter().map(|row| Row {
            took: row.took.map(|_| took),
            ..row
        });
        timed.collect()
    }

    /// Whether the servers offer the same tools as when the run was recorded.
    fn same_tools(&self, agent: &AgentCase, known: &RecordedRun) -> Result<(), String> {
        let Some(recorded) = &known.cassette.tools_fingerprint else {
            return Ok(());
        };
        let mut connections = drive::connect(agent, self)?;
        let catalogue = drive::catalogue(&mut connections, self);
        drive::close(connections);
        let catalogue = catalogue?;
        let now = catalogue.fingerprint();
        if now == recorded {
            return Ok(());
        }
        let path = known.path.display();
        Err(format!(
            "the tools have changed since `{path}` was recorded (cassette=`{recorded}`, servers=`{now}`); rerun with --update-cassettes"
        ))
    }

    fn live(
        &self,
        number: usize,
        case: &Case,
        agent: &AgentCase,
        choice: Choice,
        clock: Clock,
    ) -> (Vec<Row>, Vec<String>) {
        let mut test_budget = TestBudget::new(&self.how.money);
        let ran = drive::run(case, agent, choice, self, &mut test_budget);
        let (cost, models) = test_budget.take();
        let ran = match ran {
            Ok(ran) => ran,
            Err(why) => {
                let mut rows = unusable(number, case, why);
                for row in &mut rows {
                    row.cost = cost;
                    row.models.clone_from(&models);
                }
                return (rows, Vec::new());
            }
        };
        let evidence = Evidence {
            finished: &ran.finished,
            stub: ran.stub.as_deref(),
            replay: false,
            took: ran.took,
            test_judge: self.test_judge(case, agent, Some(test_budget)),
        };
        let mut rows = rows(number, case, agent, self.suite, &evidence, self.shared);
        if let Some(first) = rows.first_mut() {
            first.cost = match (first.cost, cost) {
                (Some(one), Some(other)) => Some(one.and(other)),
                (one, other) => one.or(other),
            };
            first.models.extend(models);
        }
        let cassette = cassette::of_run(agent, &ran, clock);
        self.hand_over(number, &cassette);
        let kept = self.keep(agent, &ran, &cassette);
        if let (Some(first), Err(why)) = (rows.first_mut(), kept) {
            first.status = Status::Error;
            first.reasons.push(why);
        }
        if let (Some(first), Some(_)) = (rows.first_mut(), &ran.stub) {
            let offered = format!("the servers were connected and offer {} tools", ran.offered);
            first.reasons.push(offered);
        }
        (rows, ran.notes)
    }

    /// Passes a run to its receiver, unless it is the stub's.
    fn hand_over(&self, case: usize, cassette: &AgentCassette) {
        let Some(Capture { runs, .. }) = &self.how.capture else {
            return;
        };
        if Stub::made(&cassette.trace) {
            return;
        }
        let cassette = cassette::without_secrets(cassette, &self.options.rules);
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.extend(cassette.map(|cassette| CapturedRun { case, cassette }));
    }

    /// The judging of a test, whose own model is the default judge.
    fn test_judge(
        &self,
        case: &Case,
        agent: &AgentCase,
        test_budget: Option<TestBudget>,
    ) -> Option<Arc<TestJudge>> {
        let judges = self.shared.judges.as_ref()?;
        let own = (!agent.is_eval).then(|| agent.model.clone());
        Some(Arc::new(TestJudge::new(
            judges,
            case.kind,
            &case.name,
            own,
            test_budget,
        )))
    }

    /// Records a run, if requested and if it ended by itself.
    fn keep(&self, agent: &AgentCase, ran: &Ran, cassette: &AgentCassette) -> Result<(), String> {
        let wanted = self.how.record || self.how.update;
        if !wanted || ran.finished.trip.is_some() {
            return Ok(());
        }
        let written = cassette::write(&self.how.folder, agent, cassette, &self.options.rules);
        written.map_err(|error| format!("cannot write its cassette: {error:#}"))?;
        self.recorded.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Why a cassette was not recorded again.
const KEPT: &str = "the key of its model is not set, and its cassette is kept";

/// A row for a test that cannot be judged.
fn unusable(number: usize, case: &Case, why: String) -> Vec<Row> {
    let mut row = judged::row(number, case, Status::Error);
    row.reasons.push(why);
    vec![row]
}
