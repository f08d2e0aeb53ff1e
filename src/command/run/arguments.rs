//! What can be asked of `run`.

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

/// Run suites against their servers, or judge a recorded session by them
///
/// Every server of a suite is a command, a URL or a cassette. With `--capture` nothing is
/// sent: each test is judged by the recorded exchanges that ask what it asks.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The suites; `-` for one on standard input, and without any `tapewright.yaml` or else
    /// `mcptest.yaml`
    #[arg(value_name = "SUITE")]
    pub(super) suites: Vec<PathBuf>,
    /// The same as SUITE
    #[arg(long, value_name = "SUITE")]
    pub(super) config: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) variables: Variables,
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    #[command(flatten)]
    pub(super) servers: ServerArguments,
    #[command(flatten)]
    pub(super) run: RunArguments,
    #[command(flatten)]
    pub(super) agents: AgentArguments,
    #[command(flatten)]
    pub(super) money: MoneyArguments,
    #[command(flatten)]
    pub(super) judges: JudgeArguments,
    #[command(flatten)]
    pub(super) capture: CaptureArguments,
    /// How to report: pretty, json, junit, tap, github or markdown; with `=FILE` into a
    /// file; repeatable
    #[arg(long, value_name = "FORMAT[=FILE]")]
    pub(super) reporter: Vec<ReporterFile>,
    /// Write the report that would be printed into this file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) snapshots: SnapshotArguments,
    #[command(flatten)]
    pub(super) baseline: BaselineArguments,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Which tests run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which tests")]
pub(crate) struct SelectionArguments {
    /// Only tests with this tag; repeatable, and then with any of them
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// No test with this tag, whatever else it has; repeatable
    #[arg(long, value_name = "TAG")]
    skip_tag: Vec<String>,
    /// Only tests with this in their name; `re:` before a regular expression; repeatable
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    include: Vec<Pattern>,
    /// No test with this in its name; repeatable
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::parse)]
    exclude: Vec<Pattern>,
    /// Only tests that this fits: `tool:NAME`, `server:NAME`, `kind:KIND`, `tag:TAG`, or
    /// else a part of the name; repeatable, and then all of them
    #[arg(long, value_name = "WORD", value_parser = Word::parse)]
    filter: Vec<Word>,
    /// Only tests that did not pass the last time; all when none is known
    #[arg(long)]
    pub(super) last_failed: bool,
    /// Only the I-th of N parts of the tests, for N jobs beside one another
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(super) shard: Option<Shard>,
    /// Print the tests that would run, and run none; with `--reporter json` as JSON
    #[arg(long)]
    pub(super) list: bool,
    /// End with status 0 when no test is selected
    #[arg(long)]
    pub(super) pass_with_no_tests: bool,
}

/// A recorded session in place of servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "A recorded session")]
pub(crate) struct CaptureArguments {
    /// Judge this tape, cassette or capture, or a folder of them; nothing is sent
    #[arg(long, value_name = "FILE")]
    pub(super) capture: Option<PathBuf>,
    /// The server of the suite that the recording is of, whatever the recording calls it
    #[arg(long, value_name = "SERVER", requires = "capture")]
    pub(super) label: Option<String>,
    /// A test that nothing in the recording asked is no reason to fail
    #[arg(long, requires = "capture")]
    pub(super) allow_unexercised: bool,
}

/// What happens to snapshots.
#[derive(Debug, Args)]
#[command(next_help_heading = "Snapshots")]
pub(crate) struct SnapshotArguments {
    /// Record every snapshot anew that a test uses
    #[arg(short = 'u', long)]
    pub(super) update_snapshots: bool,
    /// Allow that where the variable CI says `true`
    #[arg(long, requires = "update_snapshots")]
    pub(super) allow_update_in_ci: bool,
}

impl SelectionArguments {
    /// Which cases run, before what failed last is looked up.
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

const EXAMPLES: &str = "\
Examples:
  tapewright run
  tapewright run suite.yaml
  tapewright --server-url https://mcp.example.com/mcp run suite.yaml
  tapewright run suite.yaml --list --shard 1/2
  tapewright run suite.yaml --retry 2 --timeout 10s
  tapewright run suite.yaml --tag smoke --reporter pretty --reporter junit=report.xml
  tapewright run suite.yaml --baseline known.json --update-baseline
  tapewright run suite.yaml --capture session.tape.jsonl
  tapewright run suite.yaml --record
  tapewright run agents.yaml --record --max-cost 0.50
  tapewright run suite.yaml --rejudge
  tapewright run suite.yaml --record=recordings/";
