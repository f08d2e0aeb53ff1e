//! What can be asked of `compliance invariants`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tapewright_compliance::Selection;
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::Severity;

use super::judge::{self, Question};
use crate::exit::Exit;
use crate::report::{self, Mistake};

/// Judge a recorded session by its invariants
///
/// FILE is a capture, a cassette or a tape. Of a folder all recordings in it are judged
/// together, which shows what goes wrong only when their servers stand behind one client.
/// Without further options the seven documented invariants are judged, with
/// `--all` every one there is.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The recording, or a folder of recordings
    #[arg(long, value_name = "FILE", required = true)]
    capture: PathBuf,
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Judge by every invariant
    #[arg(long)]
    all: bool,
    /// Judge by this invariant, and not by the documented seven; repeatable
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    select: Vec<Code>,
    /// Leave this invariant out; repeatable
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    ignore: Vec<Code>,
    /// Leave out what is less binding than this
    #[arg(long, value_enum, value_name = "LEVEL")]
    severity: Option<Level>,
    /// The sessions share one transport, so that equal request ids collide
    #[arg(long)]
    shared_transport: bool,
}

const EXAMPLES: &str = "\
Examples:
  tapewright compliance invariants --capture session.json
  tapewright compliance invariants --capture fs.tape.jsonl --all --severity must --format json";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// For people
    Pretty,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    /// Only MUST and MUST NOT
    Must,
    /// SHOULD and SHOULD NOT as well
    Should,
}

impl Arguments {
    /// Judges, and reports.
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let selection = self.selection()?;
        let verdicts = judge::judge(&Question {
            path: &self.capture,
            selection,
            shared_transport: self.shared_transport,
        })?;
        report::out(&match self.format {
            Format::Pretty => report::compliance::pretty(&verdicts),
            Format::Json => report::compliance::json(&verdicts)?,
        })?;
        Ok(verdicts.exit())
    }

    fn selection(&self) -> anyhow::Result<Selection> {
        let mut selection = if self.all {
            Selection::all()
        } else if self.select.is_empty() {
            Selection::documented()
        } else {
            Selection::none()
        };
        let unknown = |error| {
            anyhow::Error::new(error).context(Mistake::new(
                "the selection cannot be made",
                "`--all --format json` lists every invariant with its description",
            ))
        };
        for code in &self.select {
            selection.select(*code).map_err(unknown)?;
        }
        for code in &self.ignore {
            selection.ignore(*code).map_err(unknown)?;
        }
        match self.severity {
            Some(Level::Must) => selection.at_least(Severity::Must),
            Some(Level::Should) => selection.at_least(Severity::Should),
            None => {}
        }
        Ok(selection)
    }
}
