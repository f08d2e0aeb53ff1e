//! The arguments of `run`.

use std::path::PathBuf;

use clap::Args;

use super::agents::AgentArguments;
use super::baseline::BaselineArguments;
use super::servers::{RunArguments, ServerArguments};
use crate::command::models::{JudgeArguments, MoneyArguments};
use crate::command::reporters::ReporterFile;
use crate::command::variables::Variables;
use crate::log::LogArguments;
use crate::suite::select::{Pattern, Selection, Shard, Word};

/// Run test suites against servers or recordings
///
/// A server of a suite is a command, a URL or a cassette. With `--capture`,
/// nothing is sent: each test is checked against the recorded exchanges that match
/// its request.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Suites, or folders of them; `-` is stdin [default: tapewright.yaml, then
    /// mcptest.yaml]
    #[arg(value_name = "SUITE")]
    pub(super) suites: Vec<PathBuf>,
    /// Same as SUITE
    #[arg(hide_short_help = true, long, value_name = "SUITE")]
    pub(super) config: Vec<PathBuf>,
    /// Format of the report: pretty, json, junit, tap, github or markdown
    ///
    /// Repeatable. `FORMAT=FILE` writes to a file instead of stdout.
    #[arg(long = "format", alias = "reporter", value_name = "FORMAT[=FILE]")]
    reporter: Vec<ReporterFile>,
    /// Same as `--format json`
    #[arg(long)]
    json: bool,
    /// Write the printed report to this file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) capture: CaptureArguments,
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    #[command(flatten)]
    pub(super) run: RunArguments,
    #[command(flatten)]
    pub(super) variables: Variables,
    #[command(flatten)]
    pub(super) servers: ServerArguments,
    #[command(flatten)]
    pub(super) snapshots: SnapshotArguments,
    #[command(flatten)]
    pub(super) baseline: BaselineArguments,
    #[command(flatten)]
    pub(super) agents: AgentArguments,
    #[command(flatten)]
    pub(super) money: MoneyArguments,
    #[command(flatten)]
    pub(super) judges: JudgeArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Which tests to run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct SelectionArguments {
    /// Only tests with this tag; repeatable, any may match
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Skip tests with this tag; repeatable
    #[arg(hide_short_help = true, long, value_name = "TAG")]
    skip_tag: Vec<String>,
    /// Only tests with this in their name; repeatable
    ///
    /// `re:` starts a regular expression.
    #[arg(hide_short_help = true, long, value_name = "PATTERN", value_parser = Pattern::parse)]
    include: Vec<Pattern>,
    /// Skip tests with this in their name; repeatable
    ///
    /// `re:` starts a regular expression.
    #[arg(hide_short_help = true, long, value_name = "PATTERN", value_parser = Pattern::parse)]
    exclude: Vec<Pattern>,
    /// Only tests that match; repeatable, all must match
    ///
    /// `tool:NAME`, `server:NAME`, `kind:KIND`, `tag:TAG`, or part of the name.
    #[arg(long, value_name = "WORD", value_parser = Word::parse)]
    filter: Vec<Word>,
    /// Only tests that failed last time; all if that is not known
    #[arg(long)]
    pub(super) last_failed: bool,
    /// Run part I of N, for N parallel jobs
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(super) shard: Option<Shard>,
    /// List the selected tests without running them
    #[arg(long)]
    pub(super) list: bool,
    /// Exit with status 0 if no test is selected
    #[arg(hide_short_help = true, long)]
    pub(super) pass_with_no_tests: bool,
}

/// A recorded session in place of servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "Recordings")]
pub(crate) struct CaptureArguments {
    /// Test this recording, or folder of recordings, instead of a server
    #[arg(long, value_name = "RECORDING")]
    pub(super) capture: Option<PathBuf>,
    /// Server of the suite that the recording belongs to
    #[arg(long, value_name = "SERVER", requires = "capture")]
    pub(super) label: Option<String>,
    /// Accept tests that the recording never exercised
    #[arg(hide_short_help = true, long, requires = "capture")]
    pub(super) allow_unexercised: bool,
}

/// What happens to snapshots.
#[derive(Debug, Args)]
#[command(next_help_heading = "Snapshots")]
pub(crate) struct SnapshotArguments {
    /// Rewrite the snapshots that the tests use
    #[arg(short = 'u', long)]
    pub(super) update_snapshots: bool,
    /// Allow that when the variable `CI` is true
    #[arg(hide_short_help = true, long, requires = "update_snapshots")]
    pub(super) allow_update_in_ci: bool,
}

impl SelectionArguments {
    /// The selection, before the tests that failed last are looked up.
    pub(super) fn selection(&self) -> Selection {
        Selection {
            tags: self.tag.clone(),
            skip_tags: self.skip_tag.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            words: self.filter.clone(),
            names: None,
        }
    }
}

impl Arguments {
    /// Every requested report.
    pub(super) fn reporters(&self) -> Vec<ReporterFile> {
        let json = self.json.then(ReporterFile::json);
        self.reporter.iter().cloned().chain(json).collect()
    }
}

const EXAMPLES: &str = "\
Examples:
  tapewright run
  tapewright run suite.yaml
  tapewright --server-url https://mcp.example.com/mcp run suite.yaml
  tapewright run suite.yaml --list --shard 1/2
  tapewright run suite.yaml --retry 2 --timeout 10s
  tapewright run suite.yaml --tag smoke --format pretty \\
      --format junit=report.xml
  tapewright run suite.yaml --baseline known.json --update-baseline
  tapewright run suite.yaml --capture session.tape.jsonl
  tapewright run suite.yaml --record
  tapewright run agents.yaml --record --max-cost 0.50
  tapewright run suite.yaml --rejudge
  tapewright run suite.yaml --record=recordings/";
