//! `tapewright view`: shows a recording in a browser.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use tapewright_proxy::page::{self, Document, Search, Source, TapeFilter};
use tapewright_schemas::recording::FileKind;

use super::page::{ANYWHERE, PageSettings, head, refuse_secrets, serve};
use crate::exit::Exit;
use crate::files::{Recording, folder};
use crate::report::{self, Mistake};

/// Show a recording in the browser
///
/// Serves a page on this machine and prints the link to it, with a token, to stderr. Ctrl-C stops
/// the server. A tape that is still being written is shown as it grows. All tapes of a
/// folder are shown on one page, also those that are added to it.
///
/// A recording that was made with `--no-redact` is refused; remove its secrets with `tapewright
/// scrub` first.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder with tapes
    #[arg(value_name = "RECORDING")]
    file: PathBuf,
    /// Serve the page on this address of this machine
    #[arg(long, value_name = "ADDR", default_value = ANYWHERE)]
    listen: String,
    /// Accept this host name for the page; repeatable
    ///
    /// For example, the name of a reverse proxy in front of it.
    #[arg(long, value_name = "NAME")]
    page_host: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  tapewright view fs.tape.jsonl
  tapewright view runs/one --listen 4000
  tapewright view recordings/";

/// Serves until a signal ends it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let (source, head) = if arguments.file.is_dir() {
        of_folder(&arguments.file)?
    } else {
        of_file(&arguments.file)?
    };
    let _page = serve(PageSettings {
        source,
        head,
        bodies: true,
        long: None,
        fault_set: None,
        drift: None,
        place: &arguments.listen,
        option: "--listen",
        hosts: &arguments.page_host,
    })?;
    page::until_signal().context("cannot handle signals")?;
    Ok(Exit::Pass)
}

fn of_file(path: &Path) -> anyhow::Result<(Source, Value)> {
    let recording = Recording::open(path)?;
    let (kind, header, timed) = (recording.kind(), recording.header(), recording.timed());
    // Other formats do not say whether they contain secrets.
    refuse_secrets(header.redacted || kind != FileKind::Tape)?;
    let head = head(&recording.path, kind, &header);
    if kind == FileKind::Tape {
        return Ok((Source::Tape(recording.path), head));
    }
    let mut events = Vec::new();
    let frame = recording.events(|event| {
        events.push(event.clone());
        Ok(())
    })?;
    let source = Source::Document(Box::new(Document {
        header,
        events,
        ending: frame.ending,
        timed,
    }));
    Ok((source, head))
}

/// The recording of an agent, or every tape of a folder, side by side.
fn of_folder(path: &Path) -> anyhow::Result<(Source, Value)> {
    let contained = folder::contained(path)?;
    let (tapes, others): (Vec<PathBuf>, Vec<PathBuf>) = contained
        .others
        .into_iter()
        .partition(|one| folder::is_tape(one));
    let is_of_agent = !contained.parts.is_empty();
    let tapes = if is_of_agent { contained.parts } else { tapes };
    match (tapes.as_slice(), others.as_slice()) {
        ([], [only]) => return of_file(only),
        ([], others) => return Err(no_tape(path, others)),
        (_, others) => others.iter().for_each(|other| skipped(other)),
    }
    let mut first = None;
    for tape in &tapes {
        let header = Recording::open(tape)?.header();
        refuse_secrets(header.redacted)?;
        first = first.or(Some(header));
    }
    let whole = dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut header = first.unwrap_or_default();
    let filter = if is_of_agent {
        header.label.clone_from(&contained.id);
        TapeFilter::PartOf(contained.id)
    } else {
        let name = whole.file_name().unwrap_or_default();
        header.label = name.to_string_lossy().into_owned();
        TapeFilter::Single
    };
    let source = Source::Folder(Search {
        folder: path.to_owned(),
        tapes: filter,
        several: true,
    });
    Ok((source, head(&whole, FileKind::Tape, &header)))
}

/// The error for a folder without tapes.
fn no_tape(path: &Path, others: &[PathBuf]) -> anyhow::Error {
    let shown = report::safe(&path.display().to_string());
    let hint = match others.first() {
        Some(first) => {
            let first = report::safe(&first.display().to_string());
            format!("cassettes and captures are shown one at a time: `tapewright view {first}`")
        }
        None => "give a recording, or a folder that contains tapes".to_owned(),
    };
    Mistake::new(format!("no tape in `{shown}`"), hint).into()
}

fn skipped(other: &Path) {
    let shown = report::safe(&other.display().to_string());
    report::note(&format!("skipped `{shown}`: not a tape"));
}
