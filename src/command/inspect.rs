//! `tapewright inspect`: what is on a recording.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tapewright_proxy::record::is_written;
use tapewright_schemas::event::Offset;
use tapewright_schemas::summary::Fold;
use tapewright_schemas::tape::Ending;

use crate::command::replay::playing::duration;
use crate::exit::Exit;
use crate::files::Recording;
use crate::report;

/// Show what is on a tape, a cassette or a capture
///
/// Who spoke, in which sessions, which requests were made and how they were answered, which
/// hung and because of what; over HTTP how exchanges ended, which failed and what latency we
/// added; what was no message at all, and how the recording ends.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording
    #[arg(value_name = "TAPE")]
    file: PathBuf,
    /// Call a request a hang that waited for this long, also when it was answered
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30s")]
    hang_after: Duration,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Prints the report.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let recording = Recording::open(&arguments.file)?;
    let kind = recording.kind();
    let path = recording.path.clone();
    let micros = u64::try_from(arguments.hang_after.as_micros()).unwrap_or(u64::MAX);
    let mut fold = Fold::new(recording.timed()).with_hangs_after(Offset(micros));
    let frame = recording.messages(|event, envelope| {
        fold.observe_message(event, envelope);
        Ok(())
    })?;
    let mut report = fold.finish(kind, &frame.header, &frame.ending);
    if matches!(frame.ending, Ending::CutShort { .. }) && is_written(&path) {
        report.ended.written_by = Some(frame.header.pid);
    }
    if arguments.json {
        report::out(&report::formats::json::text(&report)?)?;
    } else {
        report::out(&report::inspect::text(&path.display().to_string(), &report))?;
    }
    Ok(Exit::Pass)
}

const EXAMPLES: &str = "\
Examples:
  tapewright inspect fs.json
  tapewright inspect --json fs.tape.jsonl | jq '.unanswered'";
