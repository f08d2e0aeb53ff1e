//! `tapewright inspect`: summarizes a recording.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tapewright_models::calls::Calls;
use tapewright_models::prices::Prices;
use tapewright_proxy::record::is_written;
use tapewright_schemas::event::Offset;
use tapewright_schemas::summary::{Fold, Report};
use tapewright_schemas::tape::Ending;

use crate::command::duration;
use crate::command::format::FormatArguments;
use crate::command::linking::Linking;
use crate::command::prices::PriceArguments;
use crate::exit::Exit;
use crate::files::{Recording, folder};
use crate::report;
use crate::report::inspect_models::ModelCalls;
use crate::report::inspect_tools::Tools;

/// Summarize a recording
///
/// Shows the peers, sessions, requests and answers, hangs and their causes, HTTP failures
/// and the latency that the recorder added, model calls and the tool calls they led to,
/// output that is not MCP, and how the recording ends. For a folder, every recording in it
/// is summarized.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder of recordings
    #[arg(value_name = "RECORDING")]
    file: PathBuf,
    /// Report requests that took longer than this as hangs
    ///
    /// Also if they were answered in the end.
    #[arg(long, value_name = "DURATION", value_parser = duration::positive, default_value = "30s")]
    hang_after: Duration,
    #[command(flatten)]
    prices: PriceArguments,
    #[command(flatten)]
    format: FormatArguments,
}

/// Prints the report.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let prices = arguments.prices.read()?;
    let is_folder = arguments.file.is_dir();
    let all = if is_folder {
        folder::recordings(&arguments.file)?
    } else {
        vec![arguments.file.clone()]
    };
    let mut whole = Whole::default();
    let mut told = Vec::new();
    for (place, path) in all.iter().enumerate() {
        let recording = Recording::open_slowly(path)?;
        let one = match whole.takes(&recording.header().part_of, is_folder) {
            Some(whole) => inspect(recording, arguments.hang_after, &prices, whole)?,
            None => alone(recording, arguments.hang_after, &prices)?,
        };
        if arguments.format.is_json() {
            told.push(one);
            continue;
        }
        let gap = if place > 0 { "\n" } else { "" };
        report::out(&format!("{gap}{}", one.text()))?;
    }
    whole.tell(told, arguments.format.is_json(), is_folder)?;
    let nothing = all.is_empty();
    Ok(if nothing {
        Exit::Inconclusive
    } else {
        Exit::Pass
    })
}

/// The recording that several tapes of a folder are parts of.
#[derive(Default)]
struct Whole {
    id: String,
    linking: Linking,
}

impl Whole {
    /// The linking for a tape, if the tape is part of this recording.
    fn takes(&mut self, part_of: &str, is_folder: bool) -> Option<&mut Linking> {
        if !is_folder || part_of.is_empty() {
            return None;
        }
        if self.id.is_empty() {
            part_of.clone_into(&mut self.id);
        }
        (self.id == part_of).then_some(&mut self.linking)
    }

    /// Prints the summary of all parts together; in JSON, everything.
    fn tell(self, told: Vec<InspectedFile>, json: bool, is_folder: bool) -> anyhow::Result<()> {
        let parts = self.linking.parts();
        if self.id.is_empty() {
            return match told.as_slice() {
                _ if !json => Ok(()),
                [one] if !is_folder => report::out(&report::formats::json::text(&one.said)?),
                all => report::out(&report::formats::json::text(&all)?),
            };
        }
        let tools = self.linking.tools();
        let text = if json {
            let all = Everything {
                recording: self.id,
                parts: told,
                tools,
            };
            report::formats::json::text(&all)?
        } else {
            format!("\n{}", report::inspect_tools::text(&self.id, parts, &tools))
        };
        report::out(&text)
    }
}

/// An agent's recording.
#[derive(Serialize)]
struct Everything {
    recording: String,
    parts: Vec<InspectedFile>,
    #[serde(flatten)]
    tools: Tools,
}

/// The summary of one recording.
#[derive(Serialize)]
pub(crate) struct InspectedFile {
    file: String,
    #[serde(flatten)]
    said: FileSummary,
}

impl InspectedFile {
    /// The MCP part of the summary.
    pub(crate) fn report(&self) -> &Report {
        &self.said.report
    }

    /// The summary as text.
    pub(crate) fn text(&self) -> String {
        let said = &self.said;
        report::inspect::text(&self.file, &said.report, &said.models, &said.tools)
    }
}

/// Summarizes a recording that is not part of another one.
pub(crate) fn alone(
    recording: Recording,
    hang_after: Duration,
    prices: &Prices,
) -> anyhow::Result<InspectedFile> {
    let mut linking = Linking::default();
    let mut told = inspect(recording, hang_after, prices, &mut linking)?;
    told.said.tools = linking.tools();
    Ok(told)
}

fn inspect(
    recording: Recording,
    hang_after: Duration,
    prices: &Prices,
    linking: &mut Linking,
) -> anyhow::Result<InspectedFile> {
    let kind = recording.kind();
    let path = recording.path.clone();
    let micros = u64::try_from(hang_after.as_micros()).unwrap_or(u64::MAX);
    let mut fold = Fold::new(recording.timed()).with_hangs_after(Offset(micros));
    let mut calls = Calls::default();
    linking.begin(&path, &recording.header());
    let frame = recording.messages(|event, envelope| {
        fold.observe_message(event, envelope);
        calls.observe(event);
        linking.observe_message(event, envelope);
        Ok(())
    })?;
    let mut report = fold.finish(kind, &frame.header, &frame.ending);
    if matches!(frame.ending, Ending::CutShort { .. }) && is_written(&path) {
        report.ended.written_by = Some(frame.header.pid);
    }
    let (rows, more) = calls.finish();
    linking.models(&rows);
    let models = ModelCalls::new(rows, more, prices);
    Ok(InspectedFile {
        file: path.display().to_string(),
        said: FileSummary {
            report,
            models,
            tools: Tools::default(),
        },
    })
}

/// The MCP part and the model part of a summary, as one object.
#[derive(Serialize)]
struct FileSummary {
    #[serde(flatten)]
    report: Report,
    #[serde(flatten)]
    models: ModelCalls,
    #[serde(flatten)]
    tools: Tools,
}

const EXAMPLES: &str = "\
Examples:
  tapewright inspect fs.json
  tapewright inspect cassettes
  tapewright inspect --prices prices.json fs.tape.jsonl
  tapewright inspect --json fs.tape.jsonl | jq '.unanswered'";
