//! `tapewright run`: suites against servers, cassettes and recorded sessions.

mod arguments;
mod baseline;
mod failed;
mod overrides;
mod progress;
mod revisions;
mod servers;
mod watch;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tapewright_config::suite::server::Target;
use tapewright_proxy::clock::Clock;

pub(crate) use self::arguments::Arguments;
use self::arguments::SelectionArguments;
pub(crate) use self::servers::ServerArguments;
use self::watch::Watched;
use crate::command::reporters;
use crate::command::suites::Ready;
use crate::exit::Exit;
use crate::log;
use crate::report::suite::View;
use crate::report::{self, Mistake};
use crate::suite::result::Results;
use crate::suite::world::Snapshots;
use crate::suite::{captured, live};

/// Runs the suites, once or again and again. `before` are the options in front of the
/// command.
pub(crate) fn run(arguments: &Arguments, before: &ServerArguments) -> anyhow::Result<Exit> {
    reporters::check(&arguments.reporter, arguments.output.as_deref())?;
    let servers = arguments.servers.over(before)?;
    let suites = arguments.named()?;
    let job = Job {
        arguments,
        servers: &servers,
        suites: &suites,
        interrupted: if arguments.run.watch {
            Arc::default()
        } else {
            tapewright_proxy::stdio::interruption()?
        },
    };
    if !arguments.run.watch {
        let exit = job.once(&mut Watched::default());
        let exit = exit.inspect_err(|error| {
            if !report::is_broken_pipe(error) {
                job.report_unusable(&[format!("{error:#}")]);
            }
        })?;
        let interrupted = job.interrupted.load(Ordering::Relaxed);
        return Ok(if interrupted {
            Exit::External(130)
        } else {
            exit
        });
    }
    let mut files = Watched::default();
    loop {
        files.begin();
        // A mistake is mended while we watch.
        if let Err(error) = job.once(&mut files) {
            report::error(&error);
        }
        files.wait();
    }
}

/// What is to be run, and how.
struct Job<'a> {
    arguments: &'a Arguments,
    servers: &'a ServerArguments,
    suites: &'a [PathBuf],
    /// Somebody has asked us to end. Whoever watches simply ends.
    interrupted: Arc<AtomicBool>,
}

impl Job<'_> {
    /// Runs every suite, and reports once all have run. Notes the files that it read.
    fn once(&self, files: &mut Watched) -> anyhow::Result<Exit> {
        let mut loaded = match self.load(files)? {
            Ok(loaded) => loaded,
            Err(why) => {
                self.report_unusable(&why);
                return Ok(Exit::Unusable);
            }
        };
        let chosen = self.chosen(&loaded);
        if self.arguments.selection.list {
            return self.list(&loaded, &chosen);
        }
        let mut views = Vec::new();
        let mut exits = Vec::new();
        let mut baseline = self.arguments.baseline.read()?;
        for (one, chosen) in loaded.iter_mut().zip(&chosen) {
            let mut results = one.run(self, chosen)?;
            if let Some(baseline) = &mut baseline {
                baseline.apply(&one.0.path, &mut results);
            }
            log::tested(&one.0.path, &results);
            exits.push(results.exit());
            views.push(one.0.view(results));
        }
        baseline.map_or(Ok(()), |baseline| baseline.finish())?;
        let on_stdout = self.arguments.output.is_none();
        self.print(&reporters::write(
            &self.arguments.reporter,
            &views,
            on_stdout,
        )?)?;
        Ok(Exit::worst(&exits))
    }

    /// Reports for programs that nothing could be run. People have read it already.
    fn report_unusable(&self, why: &[String]) {
        let suite = self.suites.first().map(|path| path.display().to_string());
        let view = View::unusable(suite.unwrap_or_default(), why);
        let reporters = &self.arguments.reporter;
        let Ok(text) = reporters::write(reporters, &[view], false) else {
            return;
        };
        if reporters::is_for_programs(reporters) || self.arguments.output.is_some() {
            self.print(&text).ok();
        }
    }

    /// Loads every suite; why one cannot be used, which is said as well.
    fn load(&self, files: &mut Watched) -> anyhow::Result<Result<Vec<Run>, Vec<String>>> {
        files.note(self.suites.iter().cloned());
        let served = self.arguments.capture.capture.is_none();
        let timeout = self.arguments.run.timeout;
        let mut loaded = Vec::new();
        for path in self.suites {
            let ready = Ready::load(path, &self.arguments.variables, served, |suite| {
                let default = &mut suite.performance.default_timeout;
                *default = timeout.or(*default);
                self.servers.apply(suite)
            })?;
            match ready {
                Ok(ready) => {
                    files.note(read(&ready));
                    loaded.push(Run(ready));
                }
                Err(refused) => {
                    files.note(refused.files);
                    return Ok(Err(refused.why));
                }
            }
        }
        Ok(Ok(loaded))
    }

    /// The cases of each suite that run, by number.
    fn chosen(&self, loaded: &[Run]) -> Vec<Vec<usize>> {
        let mut chosen: Vec<Vec<usize>> = loaded
            .iter()
            .map(|one| one.selected(&self.arguments.selection))
            .collect();
        only(loaded, &mut chosen);
        if let Some(shard) = self.arguments.selection.shard {
            let part = shard.range(chosen.iter().map(Vec::len).sum());
            let mut place = 0;
            for cases in &mut chosen {
                cases.retain(|_| {
                    place += 1;
                    part.contains(&(place - 1))
                });
            }
        }
        for (one, cases) in loaded.iter().zip(&chosen) {
            if cases.is_empty() {
                one.says_nothing_runs();
            }
        }
        chosen
    }

    /// Prints what would run.
    fn list(&self, loaded: &[Run], chosen: &[Vec<usize>]) -> anyhow::Result<Exit> {
        let cases = loaded.iter().zip(chosen).map(|(Run(ready), numbers)| {
            let cases = numbers.iter().filter_map(|one| ready.plan.cases.get(*one));
            (ready.path.as_path(), cases.collect())
        });
        let lists: Vec<_> = cases.collect();
        let as_json = reporters::is_json(&self.arguments.reporter);
        self.print(&report::suite::list::text(&lists, as_json)?)?;
        let is_empty = chosen.iter().all(Vec::is_empty);
        Ok(
            if is_empty && !self.arguments.selection.pass_with_no_tests {
                Exit::Inconclusive
            } else {
                Exit::Pass
            },
        )
    }

    /// Where the printed report goes.
    fn print(&self, text: &str) -> anyhow::Result<()> {
        match &self.arguments.output {
            Some(file) => reporters::write_file(file, text),
            None => report::out(text),
        }
    }
}

/// Leaves the cases with `only`, where there are any, and says that others are left out.
fn only(loaded: &[Run], chosen: &mut [Vec<usize>]) {
    let has = |Run(ready): &Run, number: &usize| {
        let case = ready.plan.cases.get(*number);
        case.is_some_and(|case| case.options.only)
    };
    let mut all = loaded.iter().zip(chosen.iter());
    if !all.any(|(one, cases)| cases.iter().any(|number| has(one, number))) {
        return;
    }
    let before: usize = chosen.iter().map(Vec::len).sum();
    for (one, cases) in loaded.iter().zip(chosen.iter_mut()) {
        cases.retain(|number| has(one, number));
    }
    let left: usize = chosen.iter().map(Vec::len).sum();
    let out = before - left;
    report::note(&format!("`only` leaves {out} of {before} tests out"));
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

/// Whether a machine runs it, which blesses nothing.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// What is run where nothing is named, the first that is there.
const DEFAULT_SUITES: [&str; 2] = ["tapewright.yaml", "mcptest.yaml"];

/// How long each step of an opening may take, where the suite sets no limit.
const OPENING: Duration = Duration::from_secs(60);

/// A suite that is about to run.
struct Run(Ready);

impl Run {
    fn run(&mut self, job: &Job<'_>, chosen: &[usize]) -> anyhow::Result<Results> {
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
        let tokens = live::tokens(suite, plan, chosen, &variables)?;
        self.0.hide(&tokens);
        let options = self.options(job, variables, tokens)?;
        let snapshots = self.snapshots(arguments);
        let Ready { suite, plan, .. } = &self.0;
        let mut results = live::run(suite, plan, chosen, &options, &snapshots);
        progress::clear();
        results.notes.extend(snapshots.note());
        Ok(results)
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
        let Self(Ready {
            path, suite, rules, ..
        }) = self;
        let run = &job.arguments.run;
        let beside = || path.parent().unwrap_or(Path::new("")).join("cassettes");
        let record = run.record.as_ref();
        let record = record.map(|folder| folder.clone().unwrap_or_else(beside));
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
        })
    }

    /// The cases that the options select, by number.
    fn selected(&self, options: &SelectionArguments) -> Vec<usize> {
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

    fn says_nothing_runs(&self) {
        let path = report::safe(&self.0.path.display().to_string());
        let why = if self.0.plan.cases.is_empty() {
            "it has no tests"
        } else {
            "no test is selected"
        };
        report::note(&format!("`{path}`: {why}"));
    }
}

impl Arguments {
    /// The suites that are to run: those that are named, or the one that lies here. Refuses
    /// what may not be done here.
    fn named(&self) -> anyhow::Result<Vec<PathBuf>> {
        self.check()?;
        let named: Vec<PathBuf> = self.suites.iter().chain(&self.config).cloned().collect();
        if !named.is_empty() {
            return Ok(named);
        }
        let mut here = DEFAULT_SUITES.iter().map(PathBuf::from);
        let found = here.find(|path| path.is_file()).ok_or_else(|| {
            let what = format!("no suite is named, and here is no `{}`", DEFAULT_SUITES[0]);
            Mistake::new(what, "name one: `tapewright run suite.yaml`")
        })?;
        Ok(vec![found])
    }

    fn check(&self) -> anyhow::Result<()> {
        let standard_input = |path: &PathBuf| path == Path::new("-");
        let from_input = self.suites.iter().chain(&self.config);
        let from_input = from_input.filter(|path| standard_input(path)).count();
        if from_input > 1 || (from_input > 0 && self.run.watch) {
            let what = "standard input can be read once";
            return Err(Mistake::new(what, "save the suite in a file").into());
        }
        if self.snapshots.update_snapshots && is_ci() && !self.snapshots.allow_update_in_ci {
            return Err(Mistake::new(
                "snapshots are not recorded anew where the variable CI says `true`",
                "record them on your own machine, or add `--allow-update-in-ci`",
            )
            .into());
        }
        Ok(())
    }
}
