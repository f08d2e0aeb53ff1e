//! `tapewright init`: a suite from a server, or from a recording.

pub(crate) mod arguments;
mod asking;
mod plan;
pub(super) mod recorded;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;

use crate::command::duration;
use crate::command::export::agent;
use crate::command::redaction::Redaction;
use crate::command::upstream::UpstreamArguments;
use crate::exit::Exit;
use crate::files::output::{self, Overwrite};
use crate::log::{self, LogArguments};
use crate::report::figures::plural;
use crate::report::{self, Mistake};

/// Write a suite for a server or from a recording
///
/// A server is asked twice, and the suite expects what was equal both times. Tools
/// are called only if they declare `readOnlyHint`, or if they need no arguments
/// and declare that they are not destructive. Other tools are written as comments,
/// ready to be completed. From a recording, each call becomes a test, and nothing
/// is sent. For a folder, the suite has every server that was recorded; for the
/// folder of an agent's recording, it has a test of the agent.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder of recordings
    #[arg(value_name = "RECORDING", conflicts_with = "command")]
    recording: Option<PathBuf>,
    /// File to write; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "tapewright.yaml")]
    output: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Call every tool, even those that may change something
    #[arg(long)]
    all_tools: bool,
    /// Time limit for each answer
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration::positive)]
    timeout: Duration,
    /// Command that starts the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
    #[command(flatten)]
    server: UpstreamArguments,
    #[command(flatten)]
    redaction: Redaction,
    #[command(flatten)]
    pub(crate) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright init -o everything.yaml \\
      -- npx -y @modelcontextprotocol/server-everything
  tapewright init session.json -o session.yaml
  tapewright init --upstream https://mcp.example.com/mcp \\
      --header-env Authorization=TOKEN -o api.yaml";

/// Writes the suite.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let output = (arguments.output != Path::new("-")).then_some(arguments.output.as_path());
    if let Some(output) = output.filter(|path| !arguments.force && path.exists()) {
        let path = report::safe(&output.display().to_string());
        return Err(Mistake::new(
            format!("`{path}` already exists"),
            "choose another file with `-o FILE`, or overwrite it with `--force`",
        )
        .into());
    }
    if let (Some(output), Some(input)) = (output, &arguments.recording) {
        output::not_among(output, [input.as_path()])?;
    }
    let draft = match &arguments.recording {
        Some(file) => {
            if arguments.server.url()?.is_some() {
                return Err(Mistake::new(
                    "a recording cannot be used with a server",
                    "omit `--upstream` or the recording",
                )
                .into());
            }
            if let Some(run) = agent::Run::in_folder(file)? {
                let over = if arguments.force {
                    Overwrite::Any
                } else {
                    Overwrite::Nothing
                };
                run.write_suite(output, over)?;
                return Ok(Exit::Pass);
            }
            recorded::draft(file, output)?
        }
        None => asking::draft(arguments, output)?,
    };
    let (tests, stubs) = draft.counts();
    recorded::write(&draft, output)?;
    if let Some(output) = output {
        log::suite_written(output, tests, stubs);
        report::note(&format!(
            "wrote `{}`: {}",
            report::safe(&output.display().to_string()),
            contents(tests, stubs)
        ));
    }
    Ok(Exit::Pass)
}

/// What is in a suite, in words.
fn contents(tests: usize, stubs: usize) -> String {
    let tests = format!("{tests} {}", plural(tests as u64, "test"));
    match stubs {
        0 => tests,
        _ => format!("{tests}; {stubs} more in comments, to complete by hand"),
    }
}

#[cfg(test)]
mod tests {
    use super::contents;

    #[test]
    fn tests_are_counted_and_those_to_complete_only_if_there_are_any() {
        assert_eq!(contents(1, 0), "1 test");
        assert_eq!(contents(12, 0), "12 tests");
        let both = "0 tests; 1 more in comments, to complete by hand";
        assert_eq!(contents(0, 1), both);
    }
}
