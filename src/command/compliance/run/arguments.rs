//! What can be asked of `compliance run`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use crate::command::compliance::official::OfficialArguments;
use crate::command::redaction::Redaction;
use crate::command::upstream::UpstreamArguments;
use crate::command::variables::Variables;
use crate::log::LogArguments;

/// Carry out the rules of a revision, and grade the server
///
/// The server is asked what each rule asks; with `--capture` nothing is sent, and a recording is judged by what was
/// asked on it. A rule that was not put to the test is neither failed nor passed: it lowers the completeness, which
/// stands beside the grade. Rules that do not apply, by revision, transport or the capabilities of the server, count
/// nowhere.
///
/// Tools are called: one that only reads (`readOnlyHint`) goes before others, and one that destroys something
/// (`destructiveHint`) is never called.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(group(ArgGroup::new("evidence").required(true)
    .args(["from_suite", "upstream", "command", "capture", "results_from"])))]
pub(crate) struct Arguments {
    /// Run the `compliance` block of a suite, and the rules that it pins, against its servers
    #[arg(long, value_name = "SUITE")]
    pub(super) from_suite: Option<PathBuf>,
    /// Judge this recording: a tape, a cassette or a capture; several, or a folder of them, are judged as one
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) capture: Vec<PathBuf>,
    /// Grade the results in this file: rows with `rule_id`, `passed`, `source`, `message` and `duration_ms`
    #[arg(long, value_name = "FILE")]
    pub(super) results_from: Option<PathBuf>,
    #[command(flatten)]
    pub(super) server: UpstreamArguments,
    /// The command of the server
    #[arg(last = true, value_name = "COMMAND")]
    pub(super) command: Vec<OsString>,
    #[command(flatten)]
    pub(super) choice: Choice,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    pub(super) official: OfficialArguments,
    #[command(flatten)]
    pub(super) variables: Variables,
    #[command(flatten)]
    pub(super) redaction: Redaction,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

/// Which rules, and how they are asked.
#[derive(Debug, Args)]
pub(super) struct Choice {
    /// Judge by the rules of this version, such as `2025-06-18` or `draft`; else by those of the revision that is spoken
    #[arg(long, value_name = "VERSION")]
    pub(super) spec_version: Option<String>,
    /// The registry of rules; the folders of the versions stand beside it
    #[arg(long, value_name = "FILE")]
    pub(super) registry: Option<PathBuf>,
    /// What the server has, in place of what it declares
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) capabilities: Option<Vec<String>>,
    /// How long each answer may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub(super) timeout: f64,
}

/// What is reported, and what is compared.
#[derive(Debug, Args)]
pub(super) struct Output {
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    pub(super) format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// What the report calls the server
    #[arg(long, value_name = "NAME")]
    pub(super) server_label: Option<String>,
    /// Rules that are known to fail, as YAML; a failure is one that is not listed, or that is listed and holds
    #[arg(long, value_name = "FILE", visible_alias = "expected-failures")]
    pub(super) baseline: Option<PathBuf>,
    /// Write what fails now into the baseline
    #[arg(long)]
    pub(super) update_baseline: bool,
    /// Write the report as JSON into this file as well
    #[arg(long, value_name = "FILE")]
    pub(super) save_scorecard: Option<PathBuf>,
}

/// How a score is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Pretty,
    /// One JSON object, for programs
    Json,
    /// For comments and summaries
    Markdown,
    /// One page that needs no other file
    Html,
    /// XML for test reports
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

impl Output {
    /// How the score is told.
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

const EXAMPLES: &str = "\
Examples:
  tapewright compliance run -- python server.py
  tapewright compliance run --upstream https://mcp.example.com/mcp --format json
  tapewright compliance run --capture session.tape.jsonl
  tapewright compliance run --capture recordings/";
