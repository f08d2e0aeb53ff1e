//! `tapewright run`: suites against servers, cassettes and recorded sessions.

mod arguments;
mod failed;
mod overrides;
mod progress;
mod revisions;
mod servers;
mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_config::suite::server::Target;
use tapewright_proxy::clock::Clock;

pub(crate) use self::arguments::Arguments;
use self::watch::Watched;
use crate::command::reporters;
use crate::command::suites::Ready;
use crate::exit::Exit;
use crate::report::{self, Mistake};
use crate::suite::result::Results;
use crate::suite::world::Snapshots;
use crate::suite::{captured, live};

/// Runs the suites, once or again and again.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    reporters::check(&arguments.reporter)?;
    arguments.check()?;
    if !arguments.run.watch {
        return once(arguments, &mut Watched::default());
    }
    loop {
        let mut files = Watched::default();
        // A mistake is mended while we watch.
        if let Err(error) = once(arguments, &mut files) {
            report::error(&error);
        }
        files.wait();
    }
}

/// Runs every suite, and reports once all have run. Notes the files that it read.
fn once(arguments: &Arguments, files: &mut Watched) -> anyhow::Result<Exit> {
    let paths: Vec<&PathBuf> = arguments.suites.iter().chain(&arguments.config).collect();
    files.note(paths.iter().map(|path| (*path).clone()));
    let served = arguments.capture.capture.is_none();
    let mut loaded = Vec::new();
    for path in &paths {
        let ready = Ready::load(path, &arguments.variables, served, |suite| {
            arguments.servers.apply(suite)
        })?;
        let ready = match ready {
            Ok(ready) => ready,
            Err(refused) => {
                files.note(refused.files);
                return Ok(Exit::Unusable);
            }
        };
        files.note(read(&ready));
        loaded.push(Run(ready));
    }
    let mut views = Vec::new();
    let mut exits = Vec::new();
    for one in &mut loaded {
        let results = one.run(arguments)?;
        exits.push(results.exit());
        views.push(one.0.view(results));
    }
    report::out(&reporters::write(&arguments.reporter, &views)?)?;
    Ok(Exit::worst(&exits))
}

/// The files that a suite is made of, and the recordings that it names.
fn read(ready: &Ready) -> impl Iterator<Item = PathBuf> {
    let read = ready.sources.iter().map(|source| source.path.clone());
    let cassettes = ready
        .suite
        .servers
        .iter()
        .filter_map(|server| match &server.target {
            Target::Cassette(path) => Some(path.clone()),
            _ => None,
        });
    read.chain(cassettes)
}

/// A suite that is about to run.
struct Run(Ready);

impl Run {
    fn run(&mut self, arguments: &Arguments) -> anyhow::Result<Results> {
        let clock = Clock::start();
        let chosen = self.chosen(arguments);
        let mut results = match &arguments.capture.capture {
            Some(file) => self.score(arguments, &chosen, file)?,
            None => self.live(arguments, &chosen)?,
        };
        results.allow_unexercised = arguments.capture.allow_unexercised;
        results.took = clock.elapsed();
        results.skipped.extend(self.0.plan.skipped.iter().cloned());
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
        let mut results = captured::run(suite, plan, chosen, file, &snapshots)?;
        results.notes.extend(snapshots.note());
        Ok(results)
    }

    /// By asking the servers.
    fn live(&mut self, arguments: &Arguments, chosen: &[usize]) -> anyhow::Result<Results> {
        let Ready { suite, plan, .. } = &self.0;
        // What the suite reads as a credential may stand in a file beside it.
        let pairs = suite.secrets.pairs().iter().cloned();
        let process = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let variables: HashMap<_, _> = pairs.chain(process).collect();
        let tokens = live::tokens(suite, plan, chosen, &variables)?;
        self.0.hide(&tokens);
        let options = self.options(arguments, variables, tokens)?;
        let snapshots = self.snapshots(arguments);
        let Ready { suite, plan, .. } = &self.0;
        let results = live::run(suite, plan, chosen, &options, &snapshots);
        progress::clear();
        let mut results = results?;
        results.notes.extend(snapshots.note());
        Ok(results)
    }

    fn snapshots(&self, arguments: &Arguments) -> Arc<Snapshots> {
        let Ready { path, rules, .. } = &self.0;
        let update = arguments.snapshots.update_snapshots;
        Arc::new(Snapshots::beside(path, update, Arc::clone(rules)))
    }

    /// How the servers are asked.
    fn options(
        &self,
        arguments: &Arguments,
        variables: HashMap<String, String>,
        tokens: HashMap<String, String>,
    ) -> anyhow::Result<live::Options> {
        let Self(Ready {
            path, suite, rules, ..
        }) = self;
        let run = &arguments.run;
        let record = run.record.as_ref().map(|folder| {
            if folder.as_os_str().is_empty() {
                let beside = path.parent().unwrap_or(Path::new(""));
                beside.join("cassettes")
            } else {
                folder.clone()
            }
        });
        Ok(live::Options {
            parallel: run.parallel,
            bail: run.bail,
            record,
            revisions: revisions::effective(suite, run.target_version.as_deref())?,
            rules: Arc::clone(rules),
            progress: progress::show,
            variables,
            tokens,
        })
    }

    /// The cases that run, by number.
    fn chosen(&self, arguments: &Arguments) -> Vec<usize> {
        let Self(Ready { path, plan, .. }) = self;
        let mut selection = arguments.selection.selection();
        if arguments.selection.last_failed {
            selection.names = failed::recall(path);
            if selection.names.is_none() {
                report::note("nothing is known to have failed last; everything runs");
            }
        }
        let cases = plan.cases.iter().enumerate();
        let chosen: Vec<usize> = cases
            .filter(|(_, case)| selection.takes(case))
            .map(|(number, _)| number)
            .collect();
        if chosen.is_empty() {
            let path = report::safe(&path.display().to_string());
            let why = if selection.is_everything() {
                "it has no tests"
            } else {
                "no test is selected"
            };
            report::note(&format!("`{path}`: {why}"));
        }
        chosen
    }
}

impl Arguments {
    /// Refuses what may not be done here.
    fn check(&self) -> anyhow::Result<()> {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        if self.snapshots.update_snapshots && in_ci && !self.snapshots.allow_update_in_ci {
            return Err(Mistake::new(
                "snapshots are not recorded anew where the variable CI says `true`",
                "record them on your own machine, or add `--allow-update-in-ci`",
            )
            .into());
        }
        Ok(())
    }
}
