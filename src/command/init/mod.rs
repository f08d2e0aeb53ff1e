//! `tapewright init`: a suite from a server, or from a recording.

pub(crate) mod arguments;
mod asking;
mod plan;
pub(super) mod recorded;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::command::redaction::Redaction;
use crate::command::upstream::UpstreamArguments;
use crate::exit::Exit;
use crate::files::Recording;
use crate::log::{self, LogArguments};
use crate::report::{self, Mistake};

/// Write a suite that passes: from a server that is asked, or from a recording
///
/// A server is asked twice, each time anew, and the suite holds what was the same both times.
/// Only tools that say that they change nothing are called (`readOnlyHint`), and those that
/// ask for no argument and say that they destroy nothing, with arguments made from their
/// schemas; the others stand in the suite as comments, ready to be completed.
/// From a recording one test is made for each call, and nothing is sent.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A tape, a cassette or a capture
    #[arg(value_name = "RECORDING", conflicts_with = "command")]
    recording: Option<PathBuf>,
    /// Where to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "tapewright.yaml")]
    output: PathBuf,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
    /// Call every tool, also those that may change something
    #[arg(long)]
    all_tools: bool,
    /// How long an answer may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    timeout: f64,
    #[command(flatten)]
    redaction: Redaction,
    #[command(flatten)]
    server: UpstreamArguments,
    /// The server's command and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright init -o everything.yaml -- npx -y @modelcontextprotocol/server-everything
  tapewright init session.json -o session.yaml
  tapewright init --upstream https://mcp.example.com/mcp --header-env Authorization=TOKEN -o api.yaml";

/// Writes the suite.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let output = (arguments.output != Path::new("-")).then_some(arguments.output.as_path());
    if let Some(output) = output.filter(|path| !arguments.force && path.exists()) {
        let path = report::safe(&output.display().to_string());
        return Err(Mistake::new(
            format!("`{path}` is there already"),
            "name another file with `-o FILE`, or replace it with `--force`",
        )
        .into());
    }
    let draft = match &arguments.recording {
        Some(file) => {
            if arguments.server.url()?.is_some() {
                return Err(Mistake::new(
                    "a suite is made from a recording or from a server, not from both",
                    "leave out `--upstream`, or the recording",
                )
                .into());
            }
            recorded::draft(Recording::open(file)?, file, output)?
        }
        None => asking::draft(arguments, output)?,
    };
    let (tests, stubs) = (draft.calls.len(), draft.stubs.len());
    recorded::write(&draft, output)?;
    if let Some(output) = output {
        log::suite_written(output, tests, stubs);
        report::note(&format!(
            "wrote `{}`: {tests} tests, {stubs} more to complete",
            report::safe(&output.display().to_string())
        ));
    }
    Ok(Exit::Pass)
}
