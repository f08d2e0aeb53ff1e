//! `tapewright inspect`: what is on a recording.

use std::path::PathBuf;

use clap::Args;
use tapewright_schemas::summary::Fold;

use crate::exit::Exit;
use crate::files::Recording;
use crate::report;

/// Show what is on a tape, a cassette or a capture
///
/// Who spoke, which requests were made and how they were answered, which never were, what
/// was no message at all, and how the recording ends.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording
    #[arg(value_name = "TAPE")]
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the report.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let recording = Recording::open(&arguments.file)?;
    let kind = recording.kind();
    let path = recording.path.display().to_string();
    let mut fold = Fold::new(recording.timed());
    let frame = recording.events(|event| {
        fold.observe(event);
        Ok(())
    })?;
    let report = fold.finish(kind, &frame.header, &frame.ending);
    if arguments.json {
        let mut text = serde_json::to_string_pretty(&report)?;
        text.push('\n');
        report::out(&text)?;
    } else {
        report::out(&report::inspect::text(&path, &report))?;
    }
    Ok(Exit::Pass)
}

const EXAMPLES: &str = "\
Examples:
  tapewright inspect fs.json
  tapewright inspect --json fs.tape.jsonl | jq '.unanswered'";
