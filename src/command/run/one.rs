//! One suite of a run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tapewright_proxy::clock::Clock;

use super::arguments::{Arguments, SelectionArguments};
use super::{Job, failed, is_ci, progress, revisions};
use crate::command::suites::Ready;
use crate::report;
use crate::suite::live::agents::cassette;
use crate::suite::models::{self, Money, costs};
use crate::suite::plan::What;
use crate::suite::result::Results;
use crate::suite::world::SuiteWorld;
use crate::suite::{captured, live};

/// Time limit for each step of an opening, if the suite sets none.
const OPENING: Duration = Duration::from_secs(60);

/// A suite that is ready to run.
pub(super) struct Run(pub(super) Ready);

impl Run {
    pub(super) fn run(&mut self, job: &Job<'_>, chosen: &[usize]) -> anyhow::Result<Results> {
        let arguments = job.arguments;
        let clock = Clock::start();
        let mut results = match &arguments.capture.capture {
            Some(file) => self.score(job, chosen, file)?,
            None => self.live(job, chosen)?,
        };
        results.allow_unexercised = arguments.capture.allow_unexercised;
        results.pass_with_no_tests = arguments.selection.pass_with_no_tests;
        results.took = clock.elapsed();
        results.skipped.extend(self.0.plan.skipped.iter().cloned());
        let models = &self.0.suite.model_compatibility;
        if !models.is_empty() {
            let note = format!("the suite is for the models {}", models.join(", "));
            results.notes.push(note);
        }
        failed::remember(&self.0.path, &self.0.plan, &results);
        Ok(results)
    }

    /// Runs it against a recording.
    fn score(&mut self, job: &Job<'_>, chosen: &[usize], file: &Path) -> anyhow::Result<Results> {
        let arguments = job.arguments;
        let variables = self.0.variables();
        self.0.hide(&models::keys(&self.0.suite, &variables));
        let Ready { suite, plan, .. } = &self.0;
        let money = arguments.money.money(suite, &job.spent)?;
        let shared = self.shared(job, &variables, &money);
        let mut results = captured::run(
            suite,
            plan,
            chosen,
            &captured::Evidence {
                path: file,
                label: arguments.capture.label.as_deref(),
            },
            &shared,
        )?;
        if !suite.target_versions.is_empty() {
            let note = "`target_versions` is ignored for recordings";
            results.notes.push(note.to_owned());
        }
        results
            .notes
            .extend(costs::line(&results.rows, &money.prices));
        results.notes.extend(shared.notes());
        Ok(results)
    }

    /// Runs it against the servers.
    fn live(&mut self, job: &Job<'_>, chosen: &[usize]) -> anyhow::Result<Results> {
        let arguments = job.arguments;
        let Ready { suite, plan, .. } = &self.0;
        let variables = self.0.variables();
        let replayed = |number: &&usize| !self.replays(arguments, **number);
        let asked: Vec<usize> = chosen.iter().filter(replayed).copied().collect();
        let tokens = live::tokens(suite, plan, &asked, &variables)?;
        let keys = models::keys(suite, &variables);
        let money = arguments.money.money(suite, &job.spent)?;
        self.0.hide(tokens.iter().chain(&keys));
        let shared = self.shared(job, &variables, &money);
        let options = self.options(job, variables, tokens, &money)?;
        let Ready { suite, plan, .. } = &self.0;
        progress::begin();
        let mut results = live::run(suite, plan, chosen, &options, &shared);
        progress::clear();
        results
            .notes
            .extend(costs::line(&results.rows, &money.prices));
        results.notes.extend(shared.notes());
        Ok(results)
    }

    /// Whether an agent test is judged by its cassette, so that no server is needed.
    fn replays(&self, arguments: &Arguments, number: usize) -> bool {
        let anew = arguments.run.record.is_some() || arguments.agents.update_cassettes;
        let case = self.0.plan.cases.get(number);
        case.is_some_and(|case| match &case.what {
            What::Agent(agent) if !anew => cassette::found(&self.0.cassettes(), agent).is_some(),
            // Not run by this command.
            What::Eval(_) => true,
            _ => false,
        })
    }

    /// What all tests share: snapshots, and judges.
    fn shared(
        &self,
        job: &Job<'_>,
        variables: &HashMap<String, String>,
        money: &Arc<Money>,
    ) -> Arc<SuiteWorld> {
        let arguments = job.arguments;
        let Ready { path, rules, .. } = &self.0;
        let update = arguments.snapshots.update_snapshots;
        let frozen = is_ci() && !arguments.snapshots.allow_update_in_ci;
        let mut shared = SuiteWorld::beside(path, update, frozen, Arc::clone(rules));
        let how = arguments.judges.options(arguments.run.record.is_some());
        let judges = self.0.judges(how, variables, money, &job.interrupted);
        shared.judges = Some(Arc::new(judges));
        Arc::new(shared)
    }

    /// The options for asking the servers.
    fn options(
        &self,
        job: &Job<'_>,
        variables: HashMap<String, String>,
        tokens: HashMap<String, String>,
        money: &Arc<Money>,
    ) -> anyhow::Result<live::Options> {
        let Self(Ready {
            suite, rules, plan, ..
        }) = self;
        let run = &job.arguments.run;
        let record = run.record.as_ref();
        let record = record.map(|folder| folder.clone().unwrap_or_else(|| self.0.cassettes()));
        let agents = &job.arguments.agents;
        let agents = agents.options(self.0.cassettes(), record.is_some(), money);
        Ok(live::Options {
            parallel: run.parallel,
            bail: run.bail,
            retry: run.retry,
            record,
            times: plan.limits_time() || suite.performance.p95_latency.is_some(),
            revisions: revisions::effective(suite, run.target_version.as_deref())?,
            rules: Arc::clone(rules),
            interrupted: Arc::clone(&job.interrupted),
            patience: suite.performance.default_timeout.unwrap_or(OPENING),
            progress: progress::show,
            variables,
            tokens,
            agents: Some(agents),
        })
    }

    /// The cases that the options select, by number.
    pub(super) fn selected(&self, options: &SelectionArguments) -> Vec<usize> {
        let Self(Ready { path, plan, .. }) = self;
        let mut selection = options.selection();
        if options.last_failed {
            selection.names = failed::recall(path).filter(|names| !names.is_empty());
            if selection.names.is_none() {
                report::note("no failed tests known; running all");
            }
        }
        let cases = plan.cases.iter().enumerate();
        cases
            .filter(|(_, case)| selection.takes(case))
            .map(|(number, _)| number)
            .collect()
    }

    pub(super) fn says_nothing_runs(&self, options: &SelectionArguments) {
        let path = report::safe(&self.0.path.display().to_string());
        let cases = &self.0.plan.cases;
        if cases.is_empty() {
            return report::note(&format!("`{path}`: no tests"));
        }
        let near = options.selection().near(cases);
        let near = near.map_or_else(String::new, |near| format!("; {}", report::safe(&near)));
        report::note(&format!("`{path}`: no test is selected{near}"));
    }
}
