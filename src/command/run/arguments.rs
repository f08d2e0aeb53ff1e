//! What can be asked of `run`.

use std::path::PathBuf;

use clap::Args;

use super::servers::{RunArguments, ServerArguments};
use crate::command::reporters::ReporterFile;
use crate::command::variables::Variables;
use crate::suite::select::{Pattern, Selection};

/// Run suites against their servers, or judge a recorded session by them
///
/// Every server of a suite is a command, a URL or a cassette. With `--capture` nothing is
/// sent: each test is judged by the recorded exchanges that ask what it asks.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The suites
    #[arg(value_name = "SUITE", required_unless_present = "config")]
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
    pub(super) capture: CaptureArguments,
    /// How to report: pretty, json, junit, tap, github or markdown; with `=FILE` into a
    /// file; repeatable
    #[arg(long, value_name = "FORMAT[=FILE]")]
    pub(super) reporter: Vec<ReporterFile>,
    #[command(flatten)]
    pub(super) snapshots: SnapshotArguments,
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
    /// Only tests that did not pass the last time
    #[arg(long)]
    pub(super) last_failed: bool,
}

/// A recorded session in place of servers.
#[derive(Debug, Args)]
#[command(next_help_heading = "A recorded session")]
pub(crate) struct CaptureArguments {
    /// Judge this tape, cassette or capture; nothing is sent
    #[arg(long, value_name = "FILE")]
    pub(super) capture: Option<PathBuf>,
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
            names: None,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  tapewright run suite.yaml
  tapewright run suite.yaml --tag smoke --reporter pretty --reporter junit=report.xml
  tapewright run suite.yaml --capture session.tape.jsonl
  tapewright run suite.yaml --record recordings/";
