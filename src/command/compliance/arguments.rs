//! What can be asked of `compliance invariants`.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::judge::{self, Question};
use super::{baseline, evidence};
use crate::command::selection::SelectionArguments;
use crate::exit::Exit;
use crate::log::{self, LogArguments};
use crate::report::formats::{Told as _, github, junit, markdown};
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
    /// Known failures: one that is listed is expected, and stale once it passes
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what fails now into the baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Write for each finding the smallest file that still shows it into this folder
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// The sessions share one transport, so that equal request ids collide
    #[arg(long)]
    shared_transport: bool,
    #[command(flatten)]
    pub(super) log: LogArguments,
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
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow, and its step summary
    Github,
    /// For comments and summaries
    Markdown,
}

impl Arguments {
    /// Judges, and reports.
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let selection = self.selection.selection()?;
        let baseline = match &self.baseline {
            Some(path) => Some((path, baseline::read(path, self.update_baseline)?)),
            None => None,
        };
        let mut verdicts = judge::judge(&Question {
            path: &self.capture,
            selection,
            shared_transport: self.shared_transport,
        })?;
        for note in &verdicts.notes {
            report::note(note);
        }
        if let Some((path, mut known)) = baseline {
            if self.update_baseline {
                known = baseline::update(known, &verdicts, path)?;
            }
            baseline::apply(&known, &mut verdicts);
        }
        log::judged(&verdicts);
        if let Some(folder) = &self.evidence {
            evidence::write(folder, &mut verdicts)?;
            for path in evidence::files(&verdicts) {
                let path = report::safe(&path.display().to_string());
                report::note(&format!("wrote {path}"));
            }
        }
        report::out(&match self.format {
            Format::Pretty => verdicts.pretty(),
            Format::Json => verdicts.json()?,
            Format::Junit => junit::text(&verdicts.report())?,
            Format::Sarif => report::compliance::sarif(&verdicts)?,
            Format::Github => github::text(&verdicts.report()),
            Format::Markdown => markdown::text(&verdicts.report()),
        })?;
        if matches!(self.format, Format::Github) {
            summarize(&markdown::text(&verdicts.report()))?;
        }
        Ok(verdicts.exit())
    }
}

/// Adds to the summary of a GitHub workflow's step, when we run in one.
pub(super) fn summarize(text: &str) -> anyhow::Result<()> {
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| {
            let path = report::safe(&path.to_string_lossy());
            let what = format!("the step summary `{path}` cannot be written");
            Mistake::new(
                what,
                format!("unset `{SUMMARY}`, or make the file writable"),
            )
        })
}

/// Names the file of the step summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
