//! The arguments of `compliance run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};

use crate::command::compliance::official::OfficialArguments;
use crate::command::duration;
use crate::command::redaction::{Redaction, TAPE_NOT_REDACTED};
use crate::command::upstream::UpstreamArguments;
use crate::command::variables::Variables;
use crate::log::LogArguments;

/// Test a server or recording against the rules of a revision
///
/// Sends the requests of each rule to the server; with `--capture`, checks recorded
/// requests instead. A rule that was not exercised neither passes nor fails, but lowers the
/// completeness, which is reported next to the grade. Rules that do not apply to the
/// revision, transport or capabilities are left out.
///
/// Tools are called: those with `readOnlyHint` first, those with `destructiveHint` never.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE, mut_arg("no_redact", |option| option.help(TAPE_NOT_REDACTED)))]
#[command(group(ArgGroup::new("evidence").required(true)
    .args(["from_suite", "upstream", "command", "capture", "results_from"])))]
pub(crate) struct Arguments {
    /// Run the `compliance` block of a suite against its servers
    #[arg(long, value_name = "SUITE")]
    pub(super) from_suite: Option<PathBuf>,
    /// Check this recording, or folder of recordings
    ///
    /// Takes several; they are checked as one.
    #[arg(long, value_name = "RECORDING", num_args = 1..)]
    pub(super) capture: Vec<PathBuf>,
    /// Grade existing results
    ///
    /// Rows with `rule_id`, `passed`, `source`, `message` and `duration_ms`.
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) results_from: Option<PathBuf>,
    /// Command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
    #[command(flatten)]
    pub(super) choice: Choice,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    pub(super) official: OfficialArguments,
    #[command(flatten)]
    pub(super) server: UpstreamArguments,
    #[command(flatten)]
    pub(super) variables: Variables,
    #[command(flatten)]
    pub(super) redaction: Redaction,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Which rules to run, and how.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Revision to check against, such as `2025-06-18` or `draft` [default: the revision
    /// that the session negotiates]
    #[arg(long, value_name = "REVISION")]
    pub(super) spec_version: Option<String>,
    /// Read the registry, and the corpora next to it, from here
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub(super) registry: Option<PathBuf>,
    /// Assume these server capabilities instead of the declared ones
    #[arg(
        hide_short_help = true,
        long,
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub(super) capabilities: Option<Vec<String>>,
    /// Time limit for each answer
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::positive)]
    pub(super) timeout: Duration,
}

/// What to report, and what to compare with.
#[derive(Debug, Args)]
pub(super) struct Output {
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    pub(super) format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Name of the server in the report
    #[arg(long = "label", alias = "server-label", value_name = "NAME")]
    pub(super) server_label: Option<String>,
    /// Rules that are known to fail, as YAML
    ///
    /// The run fails if a rule fails that is not listed, or if a listed rule passes.
    #[arg(long, value_name = "FILE", alias = "expected-failures")]
    pub(super) baseline: Option<PathBuf>,
    /// Write the current failures to the baseline
    #[arg(long)]
    pub(super) update_baseline: bool,
    /// Also write the report as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub(super) save_scorecard: Option<PathBuf>,
}

/// The format of a report on a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Pretty,
    /// One JSON object
    Json,
    /// Text for a comment or summary
    Markdown,
    /// A self-contained HTML page
    Html,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions
    Github,
}

impl Output {
    /// The format of the report.
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

const USAGE: &str = "\
tapewright compliance run [OPTIONS] -- <COMMAND>...
       tapewright compliance run [OPTIONS] --upstream <URL>
       tapewright compliance run [OPTIONS] --capture <RECORDING>...
       tapewright compliance run [OPTIONS] --from-suite <SUITE>
       tapewright compliance run [OPTIONS] --results-from <FILE>";

const EXAMPLES: &str = "\
Examples:
  tapewright compliance run -- python server.py
  tapewright compliance run --upstream https://mcp.example.com/mcp \\
      --format json
  tapewright compliance run --capture session.tape.jsonl
  tapewright compliance run --capture recordings/";
