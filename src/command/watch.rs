//! `tapewright watch`: shows a conversation in the terminal, live or recorded.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::Value;
use tapewright_schemas::filter::Filter;

use crate::command::control::{ControlArguments, Remote, text};
use crate::command::duration;
use crate::command::record::target;
use crate::exit::Exit;
use crate::files::{Recording, folder};
use crate::report::{self, Mistake};
use crate::watch::run::{Watching, run as watch};
use crate::watch::source::Source;

/// Show a conversation in the terminal, live or recorded
///
/// Panels show exchanges with their messages, pending requests, findings with evidence, faults
/// that can be switched, notifications, progress and stderr, and calls by tool. Press `?` for the
/// keys.
///
/// With `--control`, shows a running recorder; messages are read from its tape if the tape is
/// readable here. Without RECORDING and `--control`, shows the newest recording that was made
/// without `-o`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, finished or not, or a folder of recordings
    #[arg(value_name = "RECORDING")]
    file: Option<PathBuf>,
    /// Start with this filter; see `tapewright show --help`
    #[arg(value_name = "FILTER")]
    filter: Vec<String>,
    #[command(flatten)]
    control: ControlArguments,
    /// Report requests without an answer for this long [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration::positive)]
    hang_after: Option<Duration>,
}

const EXAMPLES: &str = "\
Examples:
  tapewright watch
  tapewright watch fs.tape.jsonl status:error,pending
  tapewright watch recordings
  tapewright watch --control unix:/tmp/fs.sock";

/// Default time after which a request counts as a hang.
const HANG_AFTER: Duration = Duration::from_secs(30);

/// Watches until the user quits.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    Filter::new(&arguments.filter).map_err(|error| {
        let hint = "`tapewright show --help` lists the filters";
        Mistake::new(report::safe(&error.to_string()), hint)
    })?;
    report::watch::terminal::needed()?;
    let control = arguments.control.named();
    let remote = match &control {
        Some(_) => Some(Arc::new(arguments.control.remote()?)),
        None => None,
    };
    let (source, of_recorder) = match (&arguments.file, &remote) {
        (Some(file), _) => (files(file)?, None),
        (None, None) => (files(&newest()?)?, None),
        (None, Some(remote)) => of_control(remote, control.unwrap_or_default())?,
    };
    let filter = shell_words::join(&arguments.filter);
    let hang_after = arguments.hang_after.or(of_recorder);
    watch(Watching {
        source,
        control: remote,
        hang_after: hang_after.unwrap_or(HANG_AFTER),
        filter,
    })
}

/// A file, or the recordings in a folder. Read errors are reported before the view opens.
fn files(file: &Path) -> anyhow::Result<Source> {
    if file.is_dir() {
        return Ok(Source::Files {
            files: folder::recordings(file)?,
            folder: Some(file.to_owned()),
        });
    }
    drop(Recording::open(file)?);
    Ok(Source::Files {
        files: vec![file.to_owned()],
        folder: None,
    })
}

/// The newest recording that was made without `-o`.
fn newest() -> anyhow::Result<PathBuf> {
    let home = target::home()?;
    let all = folder::named(&home).unwrap_or_default();
    let newest = all.into_iter().max_by_key(|path| {
        let changed = std::fs::metadata(path).and_then(|one| one.modified());
        changed.ok()
    });
    newest.ok_or_else(|| report::watch::nothing_to_watch().into())
}

/// A running recorder: its tape, if it can be read from here, and after what time a request counts
/// as a hang there.
fn of_control(remote: &Arc<Remote>, address: String) -> anyhow::Result<(Source, Option<Duration>)> {
    // A recorder of an earlier version does not report it.
    let told = remote
        .ask("GET", "/recording", None)
        .or_else(|_| remote.ask("GET", "/sessions", None).map(|_| Value::Null))?;
    let hang_after = told.get("hang_after_ms").and_then(Value::as_u64);
    let hang_after = hang_after.map(Duration::from_millis);
    let tape = text(&told, "tape").map(PathBuf::from);
    let tape = tape.filter(|tape| Recording::open(tape).is_ok());
    let source = match tape {
        Some(tape) => Source::Files {
            files: vec![tape],
            folder: None,
        },
        None => Source::Control {
            remote: Arc::clone(remote),
            address,
        },
    };
    Ok((source, hang_after))
}
