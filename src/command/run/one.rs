//! One suite of a run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tapewright_proxy::clock::Clock;

use super::arguments::{Arguments, SelectionArguments};
use super::{Job, failed, is_ci, progress, revisions};
use crate::command::suites::Ready;
use crate::report;
use crate::suite::live::agents::cassette;
use crate::suite::plan::What;
use crate::suite::result::Results;
use crate::suite::world::Snapshots;
use crate::suite::{captured, live};

/// How long each step of an opening may take, where the suite sets no limit.
const OPENING: Duration = Duration::from_secs(60);

/// A suite that is about to run.
pub(super) struct Run(pub(super) Ready);

impl Run {
    pub(super) fn run(&mut self, job: &Job<'_>, chosen: &[usize]) -> anyhow::Result<Results> {
        let arguments = job.arguments;
        let clock = Clock::start();
        let mut results = match &arguments.capture.capture {
            Some(file) => self.score(arguments, chosen, file)?,
            None => self.live(job, chosen)?,
        };
        results.allow_unexercised = arguments.capture.allow_unexercised;
        results.pass_with_no_tests = arguments.selection.pass_with_no_tests;
        results.took = clock.elapsed();
        results.skipped.extend(self.0.plan.skipped.iter().cloned());
        let models = &self.0.suite.model_compatibility;
        if !models.is_empty() {
            let note = format!("the suite is meant for the models {}", models.join(", "));
            results.notes.push(note);
        }
        failed::remember(&self.0.path, &self.0.plan, &results);
        Ok(results)
    }

    /// Over a recording.
    fn score(
        &self,
        arguments: &Arguments,
        chosen: &[usize],
        file: &Path,
    ) -> anyhow::Result<Results> {
        let Ready { suite, plan, .. } = &self.0;
        let snapshots = self.snapshots(arguments);
        let mut results = captured::run(
            suite,
            plan,
            chosen,
            &captured::Evidence {
                path: file,
                label: arguments.capture.label.as_deref(),
            },
            &snapshots,
        )?;
        if !suite.target_versions.is_empty() {
            let note = "a recording is judged as it is: `target_versions` is not heeded";
            results.notes.push(note.to_owned());
        }
        results.notes.extend(snapshots.note());
        Ok(results)
    }

    /// By asking the servers.
    fn live(&mut self, job: &Job<'_>, chosen: &[usize]) -> anyhow::Result<Results> {
        let arguments = job.arguments;
        let Ready { suite, plan, .. } = &self.0;
        // What the suite reads as a credential may stand in a file beside it.
        let pairs = suite.secrets.pairs().iter().cloned();
        let process = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let variables: HashMap<_, _> = pairs.chain(process).collect();
        let replayed = |number: &&usize| !self.replays(arguments, **number);
        let asked: Vec<usize> = chosen.iter().filter(replayed).copied().collect();
        let tokens = live::tokens(suite, plan, &asked, &variables)?;
        let keys = live::agents::keys(suite, &variables);
        self.0.hide(tokens.iter().chain(&keys));
        let options = self.options(job, variables, tokens)?;
        let snapshots = self.snapshots(arguments);
        let Ready { suite, plan, .. } = &self.0;
        let mut results = live::run(suite, plan, chosen, &options, &snapshots);
        progress::clear();
        results.notes.extend(snapshots.note());
        Ok(results)
    }

    /// Whether an agent test is judged by its cassette, so that no server is needed.
    fn replays(&self, arguments: &Arguments, number: usize) -> bool {
        let anew = arguments.run.record.is_some() || arguments.agents.update_cassettes;
        let case = self.0.plan.cases.get(number);
        case.is_some_and(|case| match &case.what {
            What::Agent(agent) if !anew => cassette::found(&self.beside(), agent).is_some(),
            _ => false,
        })
    }

    /// The folder of cassettes beside the suite.
    fn beside(&self) -> PathBuf {
        let folder = self.0.path.parent().unwrap_or(Path::new(""));
        folder.join("cassettes")
    }

    fn snapshots(&self, arguments: &Arguments) -> Arc<Snapshots> {
        let Ready { path, rules, .. } = &self.0;
        let update = arguments.snapshots.update_snapshots;
        let frozen = is_ci() && !arguments.snapshots.allow_update_in_ci;
        Arc::new(Snapshots::beside(path, update, frozen, Arc::clone(rules)))
    }

    /// How the servers are asked.
    fn options(
        &self,
        job: &Job<'_>,
        variables: HashMap<String, String>,
        tokens: HashMap<String, String>,
    ) -> anyhow::Result<live::Options> {
        let Self(Ready { suite, rules, .. }) = self;
        let run = &job.arguments.run;
        let record = run.record.as_ref();
        let record = record.map(|folder| folder.clone().unwrap_or_else(|| self.beside()));
        let agents = &job.arguments.agents;
        let agents = agents.options(self.beside(), record.is_some(), &job.spent)?;
        Ok(live::Options {
            parallel: run.parallel,
            bail: run.bail,
            retry: run.retry,
            record,
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
                report::note("nothing is known to have failed last; everything runs");
            }
        }
        let cases = plan.cases.iter().enumerate();
        cases
            .filter(|(_, case)| selection.takes(case))
            .map(|(number, _)| number)
            .collect()
    }

    pub(super) fn says_nothing_runs(&self) {
        let path = report::safe(&self.0.path.display().to_string());
        let why = if self.0.plan.cases.is_empty() {
            "it has no tests"
        } else {
            "no test is selected"
        };
        report::note(&format!("`{path}`: {why}"));
    }
}
