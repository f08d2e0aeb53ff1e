//! `tapewright eval`: the evaluations of suites.

mod calibrate;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use tapewright_proxy::clock::Clock;

use crate::command::count;
use crate::command::models::{JudgeArguments, MoneyArguments};
use crate::command::reporters::{self, ReporterFile};
use crate::command::run::{is_ci, named, progress};
use crate::command::suites::Ready;
use crate::command::variables::Variables;
use crate::exit::Exit;
use crate::log::{self, LogArguments};
use crate::report;
use crate::suite::live::{self, AgentOptions, EvalOptions};
use crate::suite::models::{self, costs};
use crate::suite::plan::Kind;
use crate::suite::result::Results;
use crate::suite::select::{Selection, Word};
use crate::suite::world::SuiteWorld;

/// Run evaluations: prompts whose answers a model grades
///
/// For each entry of `evals`, a model works on the prompt with the server, and a
/// judge grades the run by the rubric. Recorded runs and verdicts are used if
/// there are any. Without a recording and without a key, an evaluation is
/// deferred.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Suites, or folders of them [default: tapewright.yaml, then mcptest.yaml]
    #[arg(value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// Same as SUITE
    #[arg(hide_short_help = true, long, value_name = "SUITE")]
    config: Vec<PathBuf>,
    /// Only evaluations that match; repeatable, all must match
    ///
    /// `server:NAME`, or part of the name; `re:` starts a regular expression.
    #[arg(long, value_name = "WORD", value_parser = Word::parse)]
    filter: Vec<Word>,
    /// Model that answers: MODEL or PROVIDER/MODEL [default: the recorded one, or that of
    /// the first key that is set]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Record runs and verdicts that are missing or stale
    #[arg(long)]
    record: bool,
    /// Judge the labelled examples in this file instead
    ///
    /// Reports how well each judge agrees with the labels, and the threshold with the best
    /// agreement. A suite provides its providers, rubrics and scorers.
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    /// Number of evaluations to run at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = count::positive)]
    parallel: usize,
    /// Format of the report: pretty, json, junit, tap, github or markdown
    ///
    /// Repeatable. `FORMAT=FILE` writes to a file instead of stdout.
    #[arg(long, alias = "reporter", value_name = "FORMAT[=FILE]")]
    format: Vec<ReporterFile>,
    /// Same as `--format json`
    #[arg(long)]
    json: bool,
    /// Write the printed report to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    money: MoneyArguments,
    #[command(flatten)]
    judges: JudgeArguments,
    #[command(flatten)]
    variables: Variables,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Time limit for each step of an opening, if the suite sets none.
const OPENING: Duration = Duration::from_secs(60);

/// Runs the evaluations of every suite, and reports once all have run.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let inputs = arguments.suites.iter().chain(&arguments.config);
    let inputs = inputs.chain(&arguments.calibrate).map(PathBuf::as_path);
    let inputs: Vec<&Path> = inputs.collect();
    reporters::check(&arguments.reporters(), arguments.output.as_deref(), &inputs)?;
    let interrupted = tapewright_proxy::system::signals::interruption()?;
    if let Some(file) = &arguments.calibrate {
        return calibrate::run(arguments, file, &interrupted);
    }
    let spent = Arc::default();
    let (mut views, mut exits) = (Vec::new(), Vec::new());
    for path in named(&arguments.suites, &arguments.config)? {
        let Ok(mut ready) = Ready::load(&path, &arguments.variables, true, |_| Ok(()))? else {
            return Ok(Exit::Unusable);
        };
        let results = arguments.evaluate(&mut ready, &interrupted, &spent)?;
        log::tested(&path, &results);
        exits.push(results.exit());
        views.push(ready.view(results));
    }
    let on_stdout = arguments.output.is_none();
    let text = reporters::write(&arguments.reporters(), &views, on_stdout)?;
    match &arguments.output {
        Some(file) => reporters::write_file(file, &text)?,
        None => report::out(&text)?,
    }
    Ok(if interrupted.load(Ordering::Relaxed) {
        Exit::External(130)
    } else {
        Exit::worst(&exits)
    })
}

impl Arguments {
    fn evaluate(
        &self,
        ready: &mut Ready,
        interrupted: &Arc<AtomicBool>,
        spent: &Arc<AtomicU64>,
    ) -> anyhow::Result<Results> {
        let clock = Clock::start();
        let variables = ready.variables();
        let chosen = self.chosen(ready);
        let tokens = live::tokens(&ready.suite, &ready.plan, &chosen, &variables)?;
        let keys = models::keys(&ready.suite, &variables);
        ready.hide(tokens.iter().chain(&keys));
        let money = self.money.money(&ready.suite, spent)?;
        let mut shared = SuiteWorld::beside(&ready.path, false, is_ci(), Arc::clone(&ready.rules));
        let how = self.judges.options(self.record);
        let judges = ready.judges(how, &variables, &money, interrupted);
        shared.judges = Some(Arc::new(judges));
        let shared = Arc::new(shared);
        let options = live::Options {
            parallel: self.parallel,
            bail: false,
            retry: 0,
            record: None,
            times: false,
            revisions: Vec::new(),
            rules: Arc::clone(&ready.rules),
            interrupted: Arc::clone(interrupted),
            patience: ready.suite.performance.default_timeout.unwrap_or(OPENING),
            progress: progress::show,
            variables,
            tokens,
            agents: Some(AgentOptions {
                folder: ready.cassettes(),
                record: self.record,
                update: false,
                capture: None,
                check_tools: false,
                money: Arc::clone(&money),
                evals: Some(EvalOptions {
                    model: self.model.clone(),
                }),
            }),
        };
        progress::begin();
        let mut results = live::run(&ready.suite, &ready.plan, &chosen, &options, &shared);
        progress::clear();
        results.took = clock.elapsed();
        results
            .notes
            .extend(costs::line(&results.rows, &money.prices));
        results.notes.extend(shared.notes());
        if results.rows.is_empty() {
            says_nothing_runs(&ready.path, ready);
        }
        Ok(results)
    }

    /// The evaluations that the options select.
    fn chosen(&self, ready: &Ready) -> Vec<usize> {
        let selection = Selection {
            words: self.filter.clone(),
            ..Selection::default()
        };
        let cases = ready.plan.cases.iter().enumerate();
        let chosen = cases.filter(|(_, case)| case.kind == Kind::Eval && selection.takes(case));
        chosen.map(|(number, _)| number).collect()
    }
}

fn says_nothing_runs(path: &Path, ready: &Ready) {
    let path = report::safe(&path.display().to_string());
    let why = if ready.suite.evals.is_empty() {
        "no `evals` in this suite; use `tapewright run` for its tests"
    } else {
        "no evaluation matches"
    };
    report::note(&format!("`{path}`: {why}"));
}

impl Arguments {
    /// Every requested report.
    fn reporters(&self) -> Vec<ReporterFile> {
        let json = self.json.then(ReporterFile::json);
        self.format.iter().cloned().chain(json).collect()
    }
}

const EXAMPLES: &str = "\
Examples:
  tapewright eval evals.yaml
  tapewright eval evals.yaml --filter sum --format junit=evals.xml
  tapewright eval evals.yaml --record --max-cost 0.50
  tapewright eval evals.yaml --rejudge --judge-model gpt-5
  tapewright eval --calibrate examples.yaml --format markdown";
