//! `tapewright compliance diff`: what a newer revision expects that an older one does not.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tapewright_corpus::diff_versions;

use super::corpora::Corpora;
use crate::exit::Exit;
use crate::log::LogArguments;
use crate::report::{self, corpora};

/// Compare the rules of two protocol revisions
///
/// A rule counts as changed if its expectations differ, so that a suite written
/// against the older revision may fail.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Revision that a suite was written against, such as 2024-11-05
    from: String,
    /// Revision to move to, such as 2025-06-18 or draft
    to: String,
    /// Read the registry, and the corpora next to it, from here
    #[arg(long, value_name = "FILE")]
    registry: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    pub(super) log: LogArguments,
}

const EXAMPLES: &str = "\
Examples:
  tapewright compliance diff 2024-11-05 2025-06-18
  tapewright compliance diff 2025-11-25 2026-07-28 --format markdown";

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Text for people
    Pretty,
    /// One JSON object
    Json,
    /// Text for a comment or summary
    Markdown,
    /// An HTML page
    Html,
}

impl Arguments {
    /// The format of the report.
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Compares, and reports.
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let corpora = Corpora::open(self.registry.as_deref())?;
        let diff = diff_versions(&corpora.get(&self.from)?, &corpora.get(&self.to)?);
        let text = match self.format() {
            Format::Pretty => corpora::pretty(&diff),
            Format::Json => report::formats::json::text(&diff.to_json())?,
            Format::Markdown => corpora::markdown(&diff),
            Format::Html => corpora::html(&diff),
        };
        report::out(&text)?;
        Ok(Exit::Pass)
    }
}
