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
use crate::report::formats::{Format, Reportable as _};
use crate::report::progress::Progress;
use crate::report::{self, Mistake};

/// Compare two recordings, exchange by exchange
///
/// Requests are matched as in a replay. Parameters and answers are compared by
/// JSON path; tools, prompts and resources by name; model calls by what determines
/// the answer. By default, IDs, times and other values that are new in every
/// session do not count. Changes of latency are shown if they exceed the noise,
/// and never count as a difference. In two folders, recordings of the same name
/// are compared.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The earlier recording, or a folder of recordings
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The later recording, or a folder of recordings
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
  tapewright diff fs.json session.json --format markdown
  tapewright diff cassettes/ recordings/";

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
    let parts = match sides.map(|path| path.is_dir()) {
        [true, true] => whole::parts(sides, &options, &mut Progress::count(0))?,
        [false, false] => whole::of_files(sides, &options)?,
        [is_folder, _] => return Err(unlike(sides, is_folder)),
    };
    let is_whole = arguments.before.is_dir();
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

/// The error for comparing a folder with a file.
fn unlike([before, after]: [&PathBuf; 2], is_before: bool) -> anyhow::Error {
    let shown = |path: &PathBuf| report::safe(&path.display().to_string());
    let (folder, file) = if is_before {
        (before, after)
    } else {
        (after, before)
    };
    let what = format!(
        "`{}` is a folder, and `{}` is not",
        shown(folder),
        shown(file)
    );
    Mistake::new(what, "give two recordings, or two folders").into()
}
