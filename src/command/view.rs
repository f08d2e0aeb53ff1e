//! `tapewright view`: a recording in a browser.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;
use tapewright_proxy::page::{self, Document, Search, Source, Whose};
use tapewright_schemas::recording::FileKind;

use super::page::{ANYWHERE, Shows, head, refuse_secrets, serve};
use crate::exit::Exit;
use crate::files::{Recording, folder};
use crate::report::{self, Mistake};

/// Show a recording in the browser
///
/// Serves a page on this machine and prints the link to it, with a token, to stderr. Ctrl-C stops
/// the server. A tape that is still being written is shown as it grows.
///
/// A recording that was made with `--no-redact` is refused; remove its secrets with `tapewright
/// scrub` first.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or the folder of an agent's recording
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
  tapewright view runs/one --listen 4000";

/// Serves until a signal ends it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let (source, head) = if arguments.file.is_dir() {
        of_folder(&arguments.file)?
    } else {
        of_file(&arguments.file)?
    };
    let _page = serve(Shows {
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
    page::until_signal().context("signals cannot be heard")?;
    Ok(Exit::Pass)
}

fn of_file(path: &Path) -> anyhow::Result<(Source, Value)> {
    let recording = Recording::open(path)?;
    let (kind, header, timed) = (recording.kind(), recording.header(), recording.timed());
    // Other formats do not say whether they hold secrets.
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

fn of_folder(path: &Path) -> anyhow::Result<(Source, Value)> {
    let contained = folder::contained(path)?;
    let mut first = None;
    for part in &contained.parts {
        let header = Recording::open(part)?.header();
        refuse_secrets(header.redacted)?;
        first = first.or(Some(header));
    }
    let Some(mut header) = first else {
        let shown = report::safe(&path.display().to_string());
        let what = format!("no agent recording in `{shown}`");
        let hint = "give one of the files in it, or a folder written by `record --models`";
        return Err(Mistake::new(what, hint).into());
    };
    header.label.clone_from(&contained.id);
    let whole = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let source = Source::Folder(Search {
        folder: path.to_owned(),
        whose: Whose::PartOf(contained.id),
        several: true,
    });
    Ok((source, head(&whole, FileKind::Tape, &header)))
}
