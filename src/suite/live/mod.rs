//! Judges a suite by asking its servers.
//!
//! Servers that a composition uses together form a group. Each group has a thread, on which its
//! cases run in the order of the suite; groups run in parallel. All required servers are connected
//! before the first request.

pub(crate) mod agents;
mod compose;
mod connection;
mod groups;
mod oauth;
mod reached;
mod record;
mod servers;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tapewright_config::Suite;
use tapewright_proxy::client::{FIRST_STATELESS, Revision};
use tapewright_schemas::order::Order as _;
use tapewright_schemas::redact::Rules;

use self::agents::Agents;
pub(crate) use self::agents::{AgentOptions, Capture, CapturedRun, EvalOptions};
use self::connection::{Connection, NotConnected};
use self::groups::{Group, groups};
pub(crate) use self::oauth::tokens;
pub(crate) use self::reached::{Reached, reached};
use self::worker::Worker;
use super::judged;
use super::plan::{Kind, Plan, What};
use super::result::{Results, Row, Status};
use super::world::SuiteWorld;
use crate::report::Mistake;

/// How to ask servers, in addition to the suite's settings.
#[derive(Clone)]
pub(crate) struct Options {
    /// How many groups of servers run at the same time.
    pub(crate) parallel: usize,
    /// Whether to stop after a test that did not pass.
    pub(crate) bail: bool,
    /// How often a failed test is repeated.
    pub(crate) retry: u32,
    /// The folder for recordings of each server.
    pub(crate) record: Option<PathBuf>,
    /// Whether cassettes have times: a test judges them.
    pub(crate) times: bool,
    /// The revisions to run with; the server's choice if empty.
    pub(crate) revisions: Vec<String>,
    /// The rules for secrets.
    pub(crate) rules: Arc<Rules>,
    /// Set when we are asked to end.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// Time limit for each step of an opening.
    pub(crate) patience: Duration,
    /// Shows the progress to the user.
    pub(crate) progress: fn(done: usize, total: usize, slowest: &str, took: Duration),
    /// The environment, with the variables of files. Contains secrets.
    pub(crate) variables: HashMap<String, String>,
    /// The access tokens of servers with OAuth. Secrets.
    pub(crate) tokens: HashMap<String, String>,
    /// How to run agent tests; without, they are skipped.
    pub(crate) agents: Option<AgentOptions>,
}

/// Judges the selected cases by asking, once for each revision.
pub(crate) fn run(
    suite: &Suite,
    plan: &Plan,
    chosen: &[usize],
    options: &Options,
    shared: &Arc<SuiteWorld>,
) -> Results {
    let mut results = Results::default();
    let revisions: Vec<Option<&str>> = if options.revisions.is_empty() {
        vec![None]
    } else {
        options
            .revisions
            .iter()
            .map(|one| Some(one.as_str()))
            .collect()
    };
    let several = revisions.len() > 1;
    let (chosen, asking, left) = parts(plan, chosen, options);
    results.rows.extend(left);
    let total = chosen.len() * revisions.len() + asking.len();
    let done = AtomicUsize::new(0);
    let slowest = Mutex::default();
    let round = |revision, stopped| Round {
        suite,
        plan,
        options,
        shared,
        revision,
        stop: AtomicBool::new(stopped),
        done: &done,
        slowest: &slowest,
        total,
    };
    for revision in revisions {
        let round = round(revision, results.stopped);
        let (mut rows, notes) = round.run(&chosen);
        if several {
            for row in &mut rows {
                row.revision = revision.map(str::to_owned);
            }
        }
        results.stopped = round.stop.load(Ordering::Relaxed);
        results.rows.extend(rows);
        results.notes.extend(notes);
    }
    latency(suite, &mut results);
    // Models cost money, so each is asked once for all revisions.
    if !asking.is_empty() {
        round(None, results.stopped).agents(&asking, &mut results);
    }
    if !several {
        results.rows.order_by_key(|row| row.case);
    }
    results
}

/// The selected cases that ask servers, those that run agents, and rows for evaluations, which are
/// not run here.
fn parts(plan: &Plan, chosen: &[usize], options: &Options) -> (Vec<usize>, Vec<usize>, Vec<Row>) {
    let agents = options.agents.as_ref();
    let evals = agents.is_some_and(|how| how.evals.is_some());
    let (mut others, mut asking, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for number in chosen.iter().copied() {
        let Some(case) = plan.cases.get(number) else {
            continue;
        };
        match case.what {
            What::Agent(_) => asking.push(number),
            What::Eval(_) if evals => asking.push(number),
            What::Eval(_) => left.push(judged::skipped(number, case, judged::EVAL)),
            _ => others.push(number),
        }
    }
    (others, asking, left)
}

/// One run over all cases.
struct Round<'r> {
    suite: &'r Suite,
    plan: &'r Plan,
    options: &'r Options,
    shared: &'r Arc<SuiteWorld>,
    revision: Option<&'r str>,
    stop: AtomicBool,
    done: &'r AtomicUsize,
    // The name of the slowest test so far, and how long it took.
    slowest: &'r Mutex<(String, Duration)>,
    total: usize,
}

const INTERRUPTED: &str = "the run was interrupted";

impl Round<'_> {
    fn run(&self, chosen: &[usize]) -> (Vec<Row>, Vec<String>) {
        let (chosen, mut skipped) = self.without_skipped(chosen);
        let workers = self.workers(&chosen, &mut skipped);
        let notes = Mutex::new(Vec::new());
        let rows = Mutex::new(Vec::new());
        let waiting = Mutex::new(workers.into_iter());
        let keep = |list: &Mutex<Vec<Row>>, row: Row| {
            list.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(row);
        };
        std::thread::scope(|scope| {
            for _ in 0..self.options.parallel.max(1) {
                scope.spawn(|| {
                    loop {
                        let next = waiting
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .next();
                        let Some(worker) = next else { break };
                        let said = worker.work(self, |row| keep(&rows, row));
                        notes
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .extend(said);
                    }
                });
            }
        });
        let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        rows.append(&mut skipped);
        rows.order_by_key(|row| row.case);
        let notes = notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        (rows, notes)
    }

    /// The groups whose servers are connected. Cases of the others become rows that say why they
    /// are not run; if a server cannot be reached at all, none is run.
    fn workers(&self, chosen: &[usize], rows: &mut Vec<Row>) -> Vec<Worker> {
        let mut workers = Vec::new();
        let mut unreachable = false;
        for (group, opened) in groups(self.plan, chosen)
            .into_iter()
            .zip(self.connect(chosen))
        {
            let (connections, failed): (Vec<_>, Vec<_>) =
                opened.into_iter().partition(|(_, one)| one.is_ok());
            let connections: Vec<_> = connections
                .into_iter()
                .filter_map(|(_, one)| one.ok())
                .collect();
            if failed.is_empty() {
                workers.push(Worker {
                    connections,
                    cases: group.cases,
                });
                continue;
            }
            for connection in connections {
                connection.close();
            }
            for (server, failed) in failed {
                match failed {
                    Err(NotConnected::Revision(why)) if !self.is_interrupted() => {
                        rows.extend(self.not_spoken(&server, &group, &why));
                    }
                    Err(NotConnected::Other(error)) if !self.is_interrupted() => {
                        unreachable = true;
                        crate::report::error(&error);
                        rows.extend(self.not_asked(
                            &group.cases,
                            &format!("{error:#}"),
                            Status::Error,
                        ));
                    }
                    _ => rows.extend(self.not_asked(&group.cases, INTERRUPTED, Status::Skip)),
                }
            }
            // The first of several reasons is reported.
            rows.order_by_key(|row| row.case);
            rows.dedup_by_key(|row| (row.case, row.name.clone()));
        }
        if unreachable {
            for worker in std::mem::take(&mut workers) {
                let why = "cannot connect to another server of the suite";
                rows.extend(self.not_asked(&worker.cases, why, Status::Skip));
                worker
                    .connections
                    .into_iter()
                    .for_each(|one| drop(one.close()));
            }
        }
        workers
    }

    /// A row that fails, for a revision that a server does not support, and rows for the cases that
    /// are not run because of it.
    fn not_spoken(&self, server: &str, group: &Group, why: &str) -> Vec<Row> {
        let version = self.revision.unwrap_or_default();
        let first = group.cases.first().copied().unwrap_or_default();
        let mut rows = Vec::new();
        if let (Some(case), Some(known)) = (self.plan.cases.get(first), self.suite.server(server)) {
            let mut row = judged::row(first, case, Status::Fail);
            row.kind = Kind::Compliance;
            row.name = format!("{server} speaks {version}");
            row.server = Some(server.to_owned());
            row.place = known.place.clone();
            rows.push(worker::failed(row, "target_versions", why.to_owned()));
        }
        let why = format!("`{server}` does not speak {version}");
        rows.extend(self.not_asked(&group.cases, &why, Status::Skip));
        rows
    }

    fn not_asked(&self, cases: &[usize], why: &str, status: Status) -> Vec<Row> {
        let row = |number: &usize| {
            let case = self.plan.cases.get(*number)?;
            self.done.fetch_add(1, Ordering::Relaxed);
            let row = judged::skipped(*number, case, why);
            Some(Row { status, ..row })
        };
        cases.iter().filter_map(row).collect()
    }

    /// The cases to run, and rows for those that the suite skips.
    fn without_skipped(&self, chosen: &[usize]) -> (Vec<usize>, Vec<Row>) {
        let mut rows = Vec::new();
        let mut asked = Vec::with_capacity(chosen.len());
        for number in chosen {
            let Some(case) = self.plan.cases.get(*number) else {
                continue;
            };
            if let Some(why) = &case.options.skip {
                rows.push(judged::skipped(*number, case, why));
                self.done.fetch_add(1, Ordering::Relaxed);
            } else {
                asked.push(*number);
            }
        }
        (asked, rows)
    }

    /// Connects every required server, all at once; returns the servers of each group.
    fn connect(&self, chosen: &[usize]) -> Vec<Vec<(String, Result<Connection, NotConnected>)>> {
        let groups = groups(self.plan, chosen);
        std::thread::scope(|scope| {
            let mut opening = Vec::new();
            for group in &groups {
                let servers = group.servers.iter();
                let each: Vec<_> = servers
                    .map(|name| (name.clone(), scope.spawn(move || self.open(name))))
                    .collect();
                opening.push(each);
            }
            let joined = opening.into_iter().map(|each| {
                let each = each.into_iter().map(|(name, one)| {
                    let failed = |_| Err(anyhow::anyhow!("connecting failed").into());
                    (name, one.join().unwrap_or_else(failed))
                });
                each.collect()
            });
            joined.collect()
        })
    }

    fn open(&self, name: &str) -> Result<Connection, NotConnected> {
        let Some(server) = self.suite.server(name) else {
            let what = format!("the suite has no server `{name}`");
            return Err(anyhow::Error::from(Mistake::new(what, "add it under `servers`")).into());
        };
        Connection::open(server, opening(self.revision), self.options, self.revision)
    }

    /// Runs agent tests, with separate connections.
    fn agents(&self, asking: &[usize], results: &mut Results) {
        let (rows, notes) = match &self.options.agents {
            None => {
                let why = "agent tests do not run here";
                (self.not_asked(asking, why, Status::Skip), Vec::new())
            }
            Some(how) => {
                let agents = Agents::new(self.suite, self.plan, self.options, how, self.shared);
                agents.run(asking, || self.stopped(), |row| self.over(row))
            }
        };
        results.stopped = self.stop.load(Ordering::Relaxed);
        results.rows.extend(rows);
        results.notes.extend(notes);
    }

    /// Called when a case is over.
    fn over(&self, row: &Row) {
        let failed = matches!(row.status, Status::Error | Status::Fail);
        if self.options.bail && failed {
            self.stop.store(true, Ordering::Relaxed);
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(took) = row.took.filter(|took| *took > slowest.1) {
            *slowest = (row.name.clone(), took);
        }
        (self.options.progress)(done, self.total, &slowest.0, slowest.1);
    }

    fn is_interrupted(&self) -> bool {
        self.options.interrupted.load(Ordering::Relaxed)
    }

    /// Why no further case is started.
    fn stopped(&self) -> Option<&'static str> {
        if self.is_interrupted() {
            return Some(INTERRUPTED);
        }
        let stopped = self.stop.load(Ordering::Relaxed);
        stopped.then_some("an earlier test failed")
    }
}

/// How to open a conversation in this revision.
fn opening(revision: Option<&str>) -> Revision {
    match revision {
        None => Revision::Auto,
        Some(version) if version >= FIRST_STATELESS => Revision::Stateless {
            version: version.to_owned(),
            discover: true,
        },
        Some(version) => Revision::Handshake(version.to_owned()),
    }
}

/// The advisory budget of the suite: 95 of 100 answers should be faster.
fn latency(suite: &Suite, results: &mut Results) {
    let Some(budget) = suite.performance.p95_latency else {
        return;
    };
    let mut times: Vec<Duration> = results.rows.iter().filter_map(|row| row.took).collect();
    times.sort_unstable();
    // The nearest rank.
    let rank = (times.len() * 95).div_ceil(100);
    let Some(p95) = rank.checked_sub(1).and_then(|rank| times.get(rank)) else {
        return;
    };
    if *p95 > budget {
        results.notes.push(format!(
            "95 of 100 answers came within {} ms; `performance.p95_latency_ms` is {} (advisory)",
            p95.as_millis(),
            budget.as_millis()
        ));
    }
}
