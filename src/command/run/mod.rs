//! `tapewright run`: suites against servers, cassettes and recorded sessions.

mod arguments;
mod failed;
mod overrides;
mod progress;
mod reporters;
mod revisions;
mod servers;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tapewright_config::suite::server::Target;
use tapewright_config::{Loaded, Suite};
use tapewright_proxy::clock::Clock;
use tapewright_schemas::redact::{Rules, Settings};

pub(crate) use self::arguments::Arguments;
use crate::command::{redaction, validate};
use crate::exit::Exit;
use crate::report::suite::{Redaction, View};
use crate::report::{self, Mistake};
use crate::suite::plan::{self, Plan};
use crate::suite::result::Results;
use crate::suite::world::Snapshots;
use crate::suite::{captured, live};

/// Runs the suites, once or again and again.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    reporters::check(&arguments.reporter)?;
    arguments.check()?;
    if !arguments.run.watch {
        return once(arguments, &mut Vec::new());
    }
    loop {
        let mut files = Vec::new();
        // A mistake is mended while we watch.
        if let Err(error) = once(arguments, &mut files) {
            report::error(&error);
        }
        watch::wait(&files);
    }
}

/// Runs every suite, and reports once all have run. Notes the files that it read.
fn once(arguments: &Arguments, files: &mut Vec<PathBuf>) -> anyhow::Result<Exit> {
    let paths: Vec<&PathBuf> = arguments.suites.iter().chain(&arguments.config).collect();
    files.extend(paths.iter().map(|path| (*path).clone()));
    let mut loaded = Vec::new();
    for path in &paths {
        match load(arguments, path)? {
            Some(one) => {
                files.extend(one.files());
                loaded.push(one);
            }
            None => return Ok(Exit::Unusable),
        }
    }
    let mut views = Vec::new();
    let mut exits = Vec::new();
    for one in &loaded {
        let results = one.run(arguments)?;
        exits.push(results.exit());
        let mut redaction = Redaction::new(&one.rules);
        let name = one.path.display().to_string();
        views.push(View::new(
            name,
            results,
            &one.loaded.sources,
            &mut redaction,
        ));
    }
    reporters::write(&arguments.reporter, &views)?;
    Ok(worst(&exits))
}

/// A suite that can run.
struct Ready {
    path: PathBuf,
    loaded: Loaded,
    plan: Plan,
    rules: Arc<Rules>,
}

/// Loads and compiles a suite. Nothing when something is wrong with it, which is said.
fn load(arguments: &Arguments, path: &Path) -> anyhow::Result<Option<Ready>> {
    let mut loaded = arguments.variables.load(path);
    validate::check(&mut loaded);
    if let Some(suite) = &mut loaded.suite {
        arguments.servers.apply(suite)?;
    }
    let plan = loaded.suite.as_ref().map(plan::build);
    let plan = match plan {
        Some(Ok(plan)) => Some(plan),
        Some(Err(issues)) => {
            loaded.add(issues);
            None
        }
        None => None,
    };
    let name = path.display().to_string();
    let (Some(plan), Some(suite)) = (plan, &loaded.suite) else {
        report::err(&report::issues::pretty::text(&[(name, loaded)]));
        return Ok(None);
    };
    let rules = Arc::new(rules(suite));
    Ok(Some(Ready {
        path: path.to_owned(),
        rules,
        plan,
        loaded,
    }))
}

/// What is a secret in reports: what the suite reads as one, and everything that a
/// recording would hide.
fn rules(suite: &Suite) -> Rules {
    let mut settings = Settings::default();
    settings
        .values
        .extend(suite.secrets.pairs().iter().cloned());
    redaction::built_in(&settings)
}

impl Ready {
    /// The files that it is made of, and the recordings that it names.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        let read = self.loaded.sources.iter().map(|source| source.path.clone());
        let servers = self.loaded.suite.iter().flat_map(|suite| &suite.servers);
        let cassettes = servers.filter_map(|server| match &server.target {
            Target::Cassette(path) => Some(path.clone()),
            _ => None,
        });
        read.chain(cassettes)
    }

    fn run(&self, arguments: &Arguments) -> anyhow::Result<Results> {
        let clock = Clock::start();
        let Some(suite) = &self.loaded.suite else {
            return Ok(Results::default());
        };
        let chosen = self.chosen(arguments);
        let update = arguments.snapshots.update_snapshots;
        let snapshots = Snapshots::beside(&self.path, update, Arc::clone(&self.rules));
        let mut results = if let Some(file) = &arguments.capture.capture {
            captured::run(suite, &self.plan, &chosen, file, &snapshots)?
        } else {
            let options = self.options(arguments, suite)?;
            let results = live::run(suite, &self.plan, &chosen, &options, &snapshots);
            progress::clear();
            results?
        };
        results.allow_unexercised = arguments.capture.allow_unexercised;
        results.took = clock.elapsed();
        results.skipped.extend(self.plan.skipped.iter().cloned());
        if snapshots.written() > 0 {
            let count = snapshots.written();
            let noun = if count == 1 { "snapshot" } else { "snapshots" };
            results.notes.push(format!("{count} {noun} recorded"));
        }
        failed::remember(&self.path, &results);
        Ok(results)
    }

    /// How the servers are asked.
    fn options(&self, arguments: &Arguments, suite: &Suite) -> anyhow::Result<live::Options> {
        let run = &arguments.run;
        let record = run.record.as_ref().map(|folder| {
            if folder.as_os_str().is_empty() {
                let beside = self.path.parent().unwrap_or(Path::new(""));
                beside.join("cassettes")
            } else {
                folder.clone()
            }
        });
        // What the suite reads as a credential may stand in a file beside it.
        let pairs = suite.secrets.pairs().iter().cloned();
        let process = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Ok(live::Options {
            parallel: run.parallel,
            bail: run.bail,
            record,
            revisions: revisions::effective(suite, run.target_version.as_deref())?,
            rules: Arc::clone(&self.rules),
            progress: progress::show,
            variables: pairs.chain(process).collect(),
        })
    }

    /// The cases that run, by number.
    fn chosen(&self, arguments: &Arguments) -> Vec<usize> {
        let mut selection = arguments.selection.selection();
        if arguments.selection.last_failed {
            selection.names = failed::recall(&self.path);
            if selection.names.is_none() {
                report::note("nothing is known to have failed last; everything runs");
            }
        }
        let cases = self.plan.cases.iter().enumerate();
        let chosen: Vec<usize> = cases
            .filter(|(_, case)| selection.takes(case))
            .map(|(number, _)| number)
            .collect();
        if chosen.is_empty() {
            let path = report::safe(&self.path.display().to_string());
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

/// Of several, the one to tell: what could not be judged, then what failed.
fn worst(exits: &[Exit]) -> Exit {
    let order = [Exit::Unusable, Exit::Fail, Exit::Inconclusive];
    let worst = order.into_iter().find(|exit| exits.contains(exit));
    worst.unwrap_or(Exit::Pass)
}
