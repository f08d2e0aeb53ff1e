//! `tapewright diff`: two recordings, exchange by exchange.

mod whole;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tapewright_replay::Ignore;
use tapewright_replay::diff::DiffOptions;

use crate::command::redaction::{self, Redaction};
use crate::exit::Exit;
use crate::report::diff::Differing;
use crate::report::formats::{Format, Told as _};
use crate::report::{self, Mistake};

/// Compare two recordings, exchange by exchange
///
/// Requests are matched as in a replay. Parameters and answers are compared by
/// JSON path; tools, prompts and resources by name; model calls by what determines
/// the answer. By default, IDs, times and other values that are new in every
/// session do not count. Changes of latency are shown if they exceed the noise,
/// and never count as a difference.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The earlier recording
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The later recording
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Also compare UUIDs, times and the like, and the order of tools
    #[arg(long)]
    exact: bool,
    /// Ignore this JSON pointer, such as `/result/serverInfo/version`
    ///
    /// `*` is any name or index. Repeatable.
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    redaction: Redaction,
}

const EXAMPLES: &str = "\
Examples:
  tapewright diff fs.json session.json
  tapewright diff fs.tape.jsonl session.tape.jsonl \\
      --ignore /result/serverInfo/version --exact
  tapewright diff fs.json session.json --format markdown";

/// Compares, and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let ignore = Ignore::new(
        &arguments.ignore,
        &["result", "error", "params", "request", "answer"],
    );
    let ignore = ignore.map_err(|error| {
        let hint = "write it like `/result/content/0/text`";
        anyhow::Error::new(error).context(Mistake::new("invalid `--ignore`", hint))
    })?;
    let options = DiffOptions {
        exact: arguments.exact,
        ignore,
        rules: Arc::new(redaction::rules(&arguments.redaction.settings())?),
    };
    let sides = [&arguments.before, &arguments.after];
    let is_whole = sides.iter().all(|path| path.is_dir());
    let parts = if is_whole {
        whole::parts(sides, &options)?
    } else {
        whole::of_files(sides, &options)?
    };
    let differing = Differing {
        before: &arguments.before,
        after: &arguments.after,
        parts,
        is_whole,
    };
    let format = if arguments.json {
        Format::Json
    } else {
        arguments.format
    };
    report::out(&differing.text(format)?)?;
    Ok(differing.exit())
}
