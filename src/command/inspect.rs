//! `tapewright inspect`: what is on a recording.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tapewright_models::calls::Calls;
use tapewright_proxy::record::is_written;
use tapewright_schemas::event::Offset;
use tapewright_schemas::summary::{Fold, Report};
use tapewright_schemas::tape::Ending;

use crate::command::replay::playing::duration;
use crate::exit::Exit;
use crate::files::{Recording, folder};
use crate::report;
use crate::report::inspect_models::ModelCalls;

/// Show what is on a tape, a cassette or a capture
///
/// Who spoke, in which sessions, which requests were made and how they were answered, which
/// hung and because of what; over HTTP how exchanges ended, which failed and what latency we
/// added; which models were called and what they answered; what was no message at all, and how
/// the recording ends. Of a folder every recording is told.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder of them
    #[arg(value_name = "TAPE")]
    file: PathBuf,
    /// Call a request a hang that waited for this long, also when it was answered
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    hang_after: Duration,
    /// Print one JSON object, of a folder an array of them
    #[arg(long)]
    json: bool,
}

/// Prints the report.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let all = if arguments.file.is_dir() {
        folder::recordings(&arguments.file)?
    } else {
        vec![arguments.file.clone()]
    };
    let mut told = Vec::new();
    for (place, path) in all.iter().enumerate() {
        let (path, said) = inspect(path, arguments.hang_after)?;
        let file = path.display().to_string();
        if arguments.json {
            told.push(Told { file, said });
            continue;
        }
        let gap = if place > 0 { "\n" } else { "" };
        let text = report::inspect::text(&file, &said.report, &said.models);
        report::out(&format!("{gap}{text}"))?;
    }
    if arguments.json {
        let text = match told.as_slice() {
            [one] if !arguments.file.is_dir() => report::formats::json::text(&one.said)?,
            all => report::formats::json::text(&all)?,
        };
        report::out(&text)?;
    }
    let nothing = all.is_empty();
    Ok(if nothing {
        Exit::Inconclusive
    } else {
        Exit::Pass
    })
}

/// One recording of a folder.
#[derive(Debug, Serialize)]
struct Told {
    file: String,
    #[serde(flatten)]
    said: Said,
}

fn inspect(path: &Path, hang_after: Duration) -> anyhow::Result<(PathBuf, Said)> {
    let recording = Recording::open(path)?;
    let kind = recording.kind();
    let path = recording.path.clone();
    let micros = u64::try_from(hang_after.as_micros()).unwrap_or(u64::MAX);
    let mut fold = Fold::new(recording.timed()).with_hangs_after(Offset(micros));
    let mut calls = Calls::default();
    let frame = recording.messages(|event, envelope| {
        fold.observe_message(event, envelope);
        calls.observe(event);
        Ok(())
    })?;
    let mut report = fold.finish(kind, &frame.header, &frame.ending);
    if matches!(frame.ending, Ending::CutShort { .. }) && is_written(&path) {
        report.ended.written_by = Some(frame.header.pid);
    }
    let (rows, more) = calls.finish();
    let models = ModelCalls::new(rows, more);
    Ok((path, Said { report, models }))
}

/// What MCP and what models said, as one object.
#[derive(Debug, Serialize)]
struct Said {
    #[serde(flatten)]
    report: Report,
    #[serde(flatten)]
    models: ModelCalls,
}

const EXAMPLES: &str = "\
Examples:
  tapewright inspect fs.json
  tapewright inspect cassettes
  tapewright inspect --json fs.tape.jsonl | jq '.unanswered'";
