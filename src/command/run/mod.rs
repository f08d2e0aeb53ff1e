//! `tapewright run`: suites against servers, cassettes and recorded sessions.

pub(crate) mod agents;
mod arguments;
mod baseline;
mod failed;
mod one;
mod overrides;
pub(super) mod progress;
mod recorded;
mod revisions;
mod servers;
mod watch;

use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tapewright_config::suite::server::Target;

pub(crate) use self::arguments::Arguments;
use self::one::Run;
pub(crate) use self::servers::ServerArguments;
use self::watch::Watched;
use crate::command::reporters;
use crate::command::suites::Ready;
use crate::exit::Exit;
use crate::files::{is_yaml, suites};
use crate::log;
use crate::report::suite::{Unusable, View};
use crate::report::{self, Mistake};

/// Runs the suites, once or repeatedly. `before` are the options in front of the command.
pub(crate) fn run(arguments: &Arguments, before: &ServerArguments) -> anyhow::Result<Exit> {
    let servers = arguments.servers.over(before)?;
    let suites = arguments.named()?;
    let inputs = suites.iter().chain(&arguments.capture.capture);
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    reporters::check(&arguments.reporters(), arguments.output.as_deref(), &inputs)?;
    let job = Job {
        arguments,
        servers: &servers,
        suites: &suites,
        interrupted: if arguments.run.watch {
            Arc::default()
        } else {
            tapewright_proxy::system::signals::interruption()?
        },
        spent: Arc::default(),
    };
    if !arguments.run.watch {
        let exit = job.once(&mut Watched::default());
        let exit = exit.inspect_err(|error| {
            if !report::is_broken_pipe(error) {
                job.report_unusable(&[job.first_suite(format!("{error:#}"))]);
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
        // A mistake can be fixed while we watch.
        if let Err(error) = job.once(&mut files) {
            report::error(&error);
        }
        files.wait();
    }
}

/// What to run, and how.
struct Job<'a> {
    arguments: &'a Arguments,
    servers: &'a ServerArguments,
    suites: &'a [PathBuf],
    /// Set when we are asked to end. With `--watch`, the process ends at once.
    interrupted: Arc<AtomicBool>,
    /// The cost of models so far, in millionths of a US cent.
    spent: Arc<AtomicU64>,
}

/// A suite that cannot be run.
struct UnusableSuite {
    path: PathBuf,
    why: Vec<Unusable>,
}

impl Job<'_> {
    /// Runs every suite, and reports once all have run. Notes the files that were read.
    fn once(&self, files: &mut Watched) -> anyhow::Result<Exit> {
        let mut loaded = match self.load(files)? {
            Ok(loaded) => loaded,
            Err(unusable) => {
                self.report_unusable(&unusable);
                return Ok(Exit::Unusable);
            }
        };
        let chosen = self.chosen(&loaded);
        if self.arguments.selection.list {
            return self.list(&loaded, &chosen);
        }
        if let Some(folder) = &self.arguments.run.record {
            recorded::check(folder.as_ref(), &loaded, &chosen)?;
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
            &self.arguments.reporters(),
            &views,
            on_stdout,
        )?)?;
        Ok(Exit::worst(&exits))
    }

    /// Why nothing could be run, if that is not about one of several suites.
    fn first_suite(&self, why: String) -> UnusableSuite {
        UnusableSuite {
            path: self.suites.first().cloned().unwrap_or_default(),
            why: vec![Unusable::plain(why)],
        }
    }

    /// Writes the reports for programs when nothing could be run. People have already seen why.
    fn report_unusable(&self, unusable: &[UnusableSuite]) {
        let views: Vec<View> = unusable
            .iter()
            .map(|suite| View::unusable(suite.path.display().to_string(), &suite.why))
            .collect();
        let reporters = &self.arguments.reporters();
        let Ok(text) = reporters::write(reporters, &views, false) else {
            return;
        };
        if reporters::is_for_programs(reporters) || self.arguments.output.is_some() {
            self.print(&text).ok();
        }
    }

    /// Loads every suite. If some cannot be used, returns those, with the reasons, which are also
    /// printed.
    fn load(&self, files: &mut Watched) -> anyhow::Result<Result<Vec<Run>, Vec<UnusableSuite>>> {
        files.note(self.suites.iter().cloned());
        let served = self.arguments.capture.capture.is_none();
        let timeout = self.arguments.run.timeout;
        let (mut loaded, mut unusable) = (Vec::new(), Vec::new());
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
                    unusable.push(UnusableSuite {
                        path: path.clone(),
                        why: refused.why,
                    });
                }
            }
        }
        Ok(if unusable.is_empty() {
            Ok(loaded)
        } else {
            Err(unusable)
        })
    }

    /// The selected cases of each suite, by number.
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
                one.says_nothing_runs(&self.arguments.selection);
            }
        }
        chosen
    }

    /// Prints the selected cases.
    fn list(&self, loaded: &[Run], chosen: &[Vec<usize>]) -> anyhow::Result<Exit> {
        let cases = loaded.iter().zip(chosen).map(|(Run(ready), numbers)| {
            let cases = numbers.iter().filter_map(|one| ready.plan.cases.get(*one));
            (ready.path.as_path(), cases.collect())
        });
        let lists: Vec<_> = cases.collect();
        let as_json = reporters::is_json(&self.arguments.reporters());
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

    /// Prints the report or writes it to a file.
    fn print(&self, text: &str) -> anyhow::Result<()> {
        match &self.arguments.output {
            Some(file) => reporters::write_file(file, text),
            None => report::out(text),
        }
    }
}

/// Reduces the selection to the cases with `only`, if there are any, and prints that others are
/// skipped.
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
    report::note(&format!("`only` skips {out} of {before} tests"));
}

/// The files of a suite, and the recordings that it uses.
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

/// Whether it runs in CI, where snapshots are not accepted.
pub(crate) fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// The default suites; the first that exists is run.
const DEFAULT_SUITES: [&str; 2] = ["tapewright.yaml", "mcptest.yaml"];

/// The suites that are given, or the default one.
pub(crate) fn named(given: &[PathBuf], config: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let named: Vec<PathBuf> = given.iter().chain(config).cloned().collect();
    if !named.is_empty() {
        return suites(&named);
    }
    let mut here = DEFAULT_SUITES.iter().map(PathBuf::from);
    let found = here.find(|path| path.is_file()).ok_or_else(|| {
        let what = format!(
            "no suite given, and no `{}` in this folder",
            DEFAULT_SUITES[0]
        );
        Mistake::new(
            what,
            "name one, such as `tapewright run suite.yaml`, or write one with `tapewright init`",
        )
    })?;
    Ok(vec![found])
}

impl Arguments {
    /// The suites to run: those that are given, or the default one. Refuses options that are not
    /// allowed here.
    fn named(&self) -> anyhow::Result<Vec<PathBuf>> {
        self.check()?;
        self.check_record()?;
        named(&self.suites, &self.config)
    }

    /// Refuses `--record FOLDER`, where the folder would be taken for a suite.
    fn check_record(&self) -> anyhow::Result<()> {
        if !matches!(self.run.record, Some(None)) {
            return Ok(());
        }
        let is_folder = |path: &&PathBuf| {
            let text = path.to_string_lossy();
            let is_new = !path.exists() && !is_yaml(path) && **path != *Path::new("-");
            let is_empty = || path.is_dir() && suites(std::slice::from_ref(*path)).is_err();
            is_empty() || is_new && (self.suites.len() > 1 || text.ends_with(is_separator))
        };
        let Some(folder) = self.suites.iter().find(is_folder) else {
            return Ok(());
        };
        let folder = report::safe(&folder.to_string_lossy());
        let what = format!("cannot read `{folder}`: not a suite");
        let hint = format!("to record to this folder, write `--record={folder}`");
        Err(Mistake::new(what, hint).into())
    }

    fn check(&self) -> anyhow::Result<()> {
        let standard_input = |path: &PathBuf| path == Path::new("-");
        let from_input = self.suites.iter().chain(&self.config);
        let from_input = from_input.filter(|path| standard_input(path)).count();
        if from_input > 1 || (from_input > 0 && self.run.watch) {
            let what = "`-` can be used only once, and not with `--watch`";
            return Err(Mistake::new(what, "save the suite in a file").into());
        }
        if self.snapshots.update_snapshots && is_ci() && !self.snapshots.allow_update_in_ci {
            return Err(Mistake::new(
                "`--update-snapshots` is refused when the variable `CI` is true",
                "update them on your machine and commit them, or add `--allow-update-in-ci`",
            )
            .into());
        }
        if self.agents.update_cassettes && is_ci() {
            return Err(Mistake::new(
                "`--update-cassettes` is refused when the variable `CI` is true",
                "update them on your machine and commit them",
            )
            .into());
        }
        Ok(())
    }
}
