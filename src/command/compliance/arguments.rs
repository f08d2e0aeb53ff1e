//! The arguments of `compliance invariants`.

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
use crate::report::formats::{Reportable as _, github, junit, markdown};
use crate::report::{self, Mistake};

/// Check recorded sessions against the protocol's invariants
///
/// Recordings in a folder are checked together, which also finds problems that
/// only appear when one client uses several servers. By default, the seven
/// documented invariants are checked; `--all` checks all of them.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Check this recording, or folder of recordings
    #[arg(long, value_name = "RECORDING", required = true)]
    capture: PathBuf,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Known failures, which do not fail the run
    ///
    /// A listed failure that no longer occurs is reported as stale.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the current failures to the baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    #[command(flatten)]
    selection: SelectionArguments,
    /// Write a minimal reproduction of each finding to this folder
    #[arg(long, value_name = "FOLDER")]
    evidence: Option<PathBuf>,
    /// All sessions share one transport, so equal request IDs collide
    #[arg(long)]
    shared_transport: bool,
    #[command(flatten)]
    pub(super) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright compliance invariants --capture session.json
  tapewright compliance invariants --capture fs.tape.jsonl --all \\
      --severity must --format json";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text for people
    Pretty,
    /// One JSON object
    Json,
    /// JUnit XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations for GitHub Actions, with a step summary
    Github,
    /// Text for a comment or summary
    Markdown,
}

impl Arguments {
    /// The format of the report.
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

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
        report::out(&match self.format() {
            Format::Pretty => verdicts.pretty(),
            Format::Json => verdicts.json()?,
            Format::Junit => junit::text(&verdicts.report())?,
            Format::Sarif => report::compliance::sarif(&verdicts)?,
            Format::Github => github::text(&verdicts.report()),
            Format::Markdown => markdown::text(&verdicts.report()),
        })?;
        if matches!(self.format(), Format::Github) {
            summarize(&markdown::text(&verdicts.report()))?;
        }
        Ok(verdicts.exit())
    }
}

/// Appends to the step summary when running in a GitHub workflow.
pub(super) fn summarize(text: &str) -> anyhow::Result<()> {
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let file = OpenOptions::new().append(true).create(true).open(&path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| {
            let path = report::safe(&path.to_string_lossy());
            let what = format!("cannot write the step summary `{path}`");
            Mistake::new(
                what,
                format!("unset `{SUMMARY}`, or make the file writable"),
            )
        })
}

/// The variable with the path of the step summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
