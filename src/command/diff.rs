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

/// Tell what differs between two recordings, exchange by exchange
///
/// Both are tapes, cassettes or captures, or both the folders of recordings of agents. Calls of
/// models are matched by what decides on their answers. The requests of AFTER are matched with those of
/// BEFORE as a replay matches them; parameters and answers are compared by JSON path, tools,
/// prompts and resources by their names. By default ids, times and the like that are new in
/// every session do not count. Latency is told where it moved by more than can be noise, and
/// is no difference.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The earlier recording
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The later recording
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Count UUIDs, times and the like, and the order of tools, too
    #[arg(long)]
    exact: bool,
    /// Pass over this place, as a JSON pointer such as `/result/serverInfo/version` or
    /// `/params/arguments/now`; `*` is any name or number
    #[arg(long, value_name = "POINTER")]
    ignore: Vec<String>,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    redaction: Redaction,
}

const EXAMPLES: &str = "\
Examples:
  tapewright diff fs.json session.json
  tapewright diff fs.tape.jsonl session.tape.jsonl --ignore /result/serverInfo/version --exact
  tapewright diff fs.json session.json --format markdown";

/// Compares, and reports.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let ignore = Ignore::new(
        &arguments.ignore,
        &["result", "error", "params", "request", "answer"],
    );
    let ignore = ignore.map_err(|error| {
        let hint = "write it like `/result/content/0/text`";
        anyhow::Error::new(error).context(Mistake::new("`--ignore` cannot be used", hint))
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
