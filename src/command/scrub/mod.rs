//! `tapewright scrub`: removes secrets from existing files.

mod agent;
mod ahead;
mod document;
mod draft;
mod tape;

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::redact::Rules;

use super::format::FormatArguments;
use super::redaction::{self, Redaction};
use crate::exit::Exit;
use crate::files::{first_line, folder, unreadable, unreadable_or_near};
use crate::report::{self, Mistake};

/// Remove secrets from recordings
///
/// Each file is replaced in one step; every other byte stays the same. Within a file, equal
/// secrets get equal placeholders.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, mut_arg("no_redact", |option| option.hide(true)))]
pub(crate) struct Arguments {
    /// Recordings, or folders of them
    #[arg(required = true, value_name = "RECORDING")]
    files: Vec<PathBuf>,
    /// Change nothing; list secrets, and exit with status 1 if there are any
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: FormatArguments,
    #[command(flatten)]
    redaction: Redaction,
}

/// Scrubs the files, or reports their secrets.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if arguments.redaction.is_off() {
        let what = "`scrub` cannot be used with `--no-redact`";
        return Err(Mistake::new(what, "omit the option").into());
    }
    let rules = Arc::new(redaction::rules(&arguments.redaction.settings())?);
    let mut exit = Exit::Pass;
    let mut files = Vec::new();
    for named in &arguments.files {
        if named.is_dir() {
            files.extend(recordings(named)?);
        } else {
            files.push(named.clone());
        }
    }
    for file in &files {
        match scrub(file, &rules, arguments.check) {
            Ok(found) => {
                let text = if arguments.format.is_json() {
                    found.json(file, arguments.check)
                } else {
                    found.text(file, arguments.check)
                };
                report::out(&text)?;
                if arguments.check && found.any() && exit == Exit::Pass {
                    exit = Exit::Fail;
                }
            }
            Err(error) if report::is_broken_pipe(&error) => return Err(error),
            Err(error) => {
                report::error(&error);
                exit = Exit::Unusable;
            }
        }
    }
    Ok(exit)
}

/// The files of a folder that can be scrubbed. Skipped files are reported, since they may contain
/// secrets as well.
fn recordings(named: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = folder::all(named)?;
    files.retain(|path| {
        let is_one = folder::is_recording(path) || agent::is_one(path);
        if !is_one {
            let shown = report::safe(&path.display().to_string());
            report::note(&format!("skipped `{shown}`: not a recording"));
        }
        is_one
    });
    if files.is_empty() {
        let hint = "give recordings, or a folder that contains some";
        return Err(unreadable(named, "no recording in this folder", hint));
    }
    Ok(files)
}

/// Where in a file a secret is.
#[derive(Debug)]
enum Place {
    /// A line of a tape, from 1 on.
    Line(u64),
    /// A JSON pointer into a document.
    Pointer(String),
    /// Somewhere in the file.
    File,
}

impl Place {
    /// The text that follows the file name.
    fn text(&self) -> String {
        match self {
            Self::Line(number) => format!(":{number}"),
            Self::Pointer(pointer) => format!("#{}", report::safe(pointer)),
            Self::File => String::new(),
        }
    }

    fn json(&self, kind: &str) -> Value {
        match self {
            Self::Line(number) => json!({ "line": number, "kind": kind }),
            Self::Pointer(pointer) => json!({ "pointer": pointer, "kind": kind }),
            Self::File => json!({ "kind": kind }),
        }
    }
}

/// The findings in one file.
#[derive(Debug, Default)]
struct Found {
    // Places and kinds; kept for a check only, since a long recording may have a million of them.
    places: Vec<(Place, String)>,
    any: bool,
    counts: BTreeMap<String, u64>,
}

impl Found {
    fn any(&self) -> bool {
        self.any
    }

    /// Counts a secret, and keeps its place if `kept`.
    fn place(&mut self, kept: bool, place: impl FnOnce() -> (Place, String)) {
        self.any = true;
        if kept {
            self.places.push(place());
        }
    }

    fn text(&self, file: &Path, check: bool) -> String {
        let file = report::safe(&file.display().to_string());
        if check {
            let lines = self
                .places
                .iter()
                .map(|(place, kind)| format!("{file}{}: {}\n", place.text(), report::safe(kind)));
            return lines.collect();
        }
        if self.counts.is_empty() && !self.any() {
            return format!("{file}: nothing to replace\n");
        }
        let kinds = self
            .counts
            .iter()
            .map(|(kind, count)| format!("{} {count}", report::safe(kind)));
        format!(
            "{file}: replaced {}\n",
            kinds.collect::<Vec<_>>().join(", ")
        )
    }

    /// One line of JSON, as described by the schema `scrub`.
    fn json(&self, file: &Path, check: bool) -> String {
        let counts = self.counts.iter();
        let counts = counts.map(|(kind, count)| (kind.clone(), Value::from(*count)));
        let mut line = Map::new();
        line.insert("file".to_owned(), file.display().to_string().into());
        line.insert("changed".to_owned(), (self.any() && !check).into());
        line.insert("counts".to_owned(), counts.collect::<Map<_, _>>().into());
        if check {
            let secrets = self.places.iter().map(|(place, kind)| place.json(kind));
            line.insert("secrets".to_owned(), secrets.collect());
        }
        format!("{}\n", Value::Object(line))
    }
}

fn scrub(path: &Path, rules: &Arc<Rules>, check: bool) -> anyhow::Result<Found> {
    let io = |error: std::io::Error| {
        let hint = "give a tape, cassette or capture";
        unreadable_or_near(path, &error, hint, folder::has_name)
    };
    let file = File::open(path).map_err(io)?;
    let is_other = |data: Metadata| !data.is_file() && !data.is_dir();
    if file.metadata().is_ok_and(is_other) {
        let hint = "write it to a file first";
        return Err(unreadable(path, "it is a pipe or a device", hint));
    }
    let line = first_line(&mut BufReader::new(&file)).map_err(io)?;
    (&file).rewind().map_err(io)?;
    if !FileKind::is_tape_header(&line) {
        drop(file);
        if let Some(found) = agent::scrub(path, rules, check)? {
            return Ok(found);
        }
        return document::scrub(path, rules, check);
    }
    tape::scrub(path, file, rules, check)
}

/// How many bytes are written at once.
const BUFFER: usize = 1 << 18;

const EXAMPLES: &str = "\
Examples:
  tapewright scrub fs.json fs.tape.jsonl
  tapewright scrub --check --redact-env TOKEN cassettes/*.json
  tapewright scrub --check --json cassettes/ | jq .secrets";
