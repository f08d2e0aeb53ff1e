//! Scores a session by suites while it is recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tapewright_proxy::clock::Clock;
use tapewright_proxy::record::{Feed, Listener};
use tapewright_schemas::event::{Event, Sink};

use crate::command::reporters::{self, ReporterFile};
use crate::command::run::is_ci;
use crate::command::suites::Ready;
use crate::command::variables::Variables;
use crate::exit::Exit;
use crate::report::{self, Mistake};
use crate::suite::captured::{self, Labels};
use crate::suite::world::SuiteWorld;

/// Options for scoring a session while it is recorded.
#[derive(Debug, Args)]
#[command(next_help_heading = "Suites")]
pub(crate) struct ScoringArguments {
    /// Run the tests of this suite over the session; repeatable
    ///
    /// The report goes to stderr when the session ends.
    #[arg(long = "suite", id = "scored", value_name = "SUITE")]
    suite: Vec<PathBuf>,
    /// Format of the report: pretty, json, junit, tap, github or markdown
    ///
    /// Repeatable. `FORMAT=FILE` writes to a file instead of stderr.
    #[arg(
        long = "format",
        alias = "reporter",
        value_name = "FORMAT[=FILE]",
        requires = "scored"
    )]
    reporter: Vec<ReporterFile>,
    /// With `--strict`, accept tests that the session never exercised
    #[arg(hide_short_help = true, long, requires = "scored")]
    allow_unexercised: bool,
    #[command(flatten)]
    variables: Variables,
}

/// What is known about the server before the session begins.
pub(super) struct Server<'a> {
    pub(super) label: &'a str,
    /// Whether there is only one.
    pub(super) is_one: bool,
}

/// Suites that score a session.
pub(super) struct Scoring {
    suites: Vec<Scored>,
    listener: Listener<Scorers>,
    reporters: Vec<ReporterFile>,
    allow_unexercised: bool,
    clock: Clock,
}

struct Scored {
    ready: Ready,
    shared: Arc<SuiteWorld>,
    notes: Vec<String>,
}

/// One for each suite.
struct Scorers(Vec<captured::Scoring>);

impl Sink for Scorers {
    fn record(&mut self, event: &Event) {
        self.0.iter_mut().for_each(|one| one.record(event));
    }
}

impl ScoringArguments {
    /// Whether a suite was given.
    pub(super) fn is_asked(&self) -> bool {
        !self.suite.is_empty()
    }

    /// Loads the suites, and starts to listen. `Err` in the inner result: a suite cannot be used,
    /// which has been reported.
    pub(super) fn start(
        &self,
        server: &Server<'_>,
        clock: Clock,
    ) -> anyhow::Result<Result<Option<Scoring>, Exit>> {
        if !self.is_asked() {
            if !self.variables.is_empty() {
                let what = "`--var`, `--env-file` and `--no-env-file` need `--suite`";
                return Err(Mistake::new(what, "add `--suite SUITE`").into());
            }
            return Ok(Ok(None));
        }
        let inputs: Vec<&Path> = self.suite.iter().map(PathBuf::as_path).collect();
        reporters::check(&self.reporter, None, &inputs)?;
        let mut suites = Vec::new();
        let mut scorers = Vec::new();
        for path in &self.suite {
            let Ok(ready) = Ready::load(path, &self.variables, false, |_| Ok(()))? else {
                return Ok(Err(Exit::Unusable));
            };
            let labels = server.labels(&ready)?;
            let shared = SuiteWorld::beside(path, false, is_ci(), Arc::clone(&ready.rules));
            let shared = Arc::new(shared);
            let all = (0..ready.plan.cases.len()).collect();
            let plan = Arc::clone(&ready.plan);
            let mut scoring = captured::Scoring::new(plan, all, Arc::clone(&shared))?;
            scoring.enter(labels.server(server.label), true);
            let notes = labels.notes;
            scorers.push(scoring);
            suites.push(Scored {
                ready,
                shared,
                notes,
            });
        }
        let listener = Listener::start(Scorers(scorers));
        let listener = listener.context("cannot start a thread to test the session")?;
        Ok(Ok(Some(Scoring {
            suites,
            listener,
            reporters: self.reporter.clone(),
            allow_unexercised: self.allow_unexercised,
            clock,
        })))
    }
}

impl Server<'_> {
    /// The labels of this server in a suite. Refuses a suite that could not score a single
    /// exchange.
    fn labels<'s>(&self, ready: &'s Ready) -> anyhow::Result<Labels<'s>> {
        let labels = Labels::of(&ready.suite, [self.label]);
        let known = ready.suite.server(self.label).is_some();
        if known || (self.is_one && labels.server(self.label).is_some()) {
            return Ok(labels);
        }
        let names = ready.suite.servers.iter();
        let names: Vec<String> = names
            .map(|server| format!("`--label {}`", report::safe(&server.name)))
            .collect();
        let what = format!(
            "`{}` has no server `{}`, the label of this recording",
            report::safe(&ready.path.display().to_string()),
            report::safe(self.label)
        );
        let hint = format!("choose the server: {}", names.join(" or "));
        Err(Mistake::new(what, hint).into())
    }
}

impl Scoring {
    /// The feed of recorded events.
    pub(super) fn feed(&self) -> Feed {
        self.listener.feed()
    }

    /// The secrets of the suites, with their names.
    pub(super) fn secrets(&self) -> impl Iterator<Item = (String, String)> {
        let suites = self.suites.iter();
        suites.flat_map(|one| one.ready.suite.secrets.pairs().iter().cloned())
    }

    /// Waits until everything is judged, and reports. Returns the status for `--strict`.
    pub(super) fn report(self) -> anyhow::Result<Exit> {
        let Some(Scorers(scorers)) = self.listener.finish() else {
            anyhow::bail!(Mistake::new(
                "cannot test the session",
                "the recording is complete; test it with `tapewright run SUITE --capture TAPE`"
            ));
        };
        let mut views = Vec::new();
        let mut exits = Vec::new();
        for (one, scoring) in self.suites.into_iter().zip(scorers) {
            let mut results = scoring.finish();
            results.allow_unexercised = self.allow_unexercised;
            results.took = self.clock.elapsed();
            results.notes.splice(0..0, one.notes);
            results.notes.extend(one.shared.notes());
            results
                .skipped
                .extend(one.ready.plan.skipped.iter().cloned());
            exits.push(results.exit());
            views.push(one.ready.view(results));
        }
        let printed = reporters::write(&self.reporters, &views, false)?;
        // Only files were requested: clients take output on standard error for errors.
        if self.reporters.is_empty() || self.reporters.iter().any(ReporterFile::is_printed) {
            report::err(&printed);
        }
        Ok(Exit::worst(&exits))
    }
}
