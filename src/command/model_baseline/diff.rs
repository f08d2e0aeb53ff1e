//! `tapewright model-baseline diff`: compares two captures, exchange by exchange.

use std::path::PathBuf;

use clap::Args;
use tapewright_baselines::{Glob, Options, compare};

use super::file;
use super::format::{self, Format};
use crate::exit::Exit;
use crate::report;
use crate::report::baseline::Compared;

/// Compare a candidate with a baseline, exchange by exchange
///
/// Exchanges are matched by ID. The exit status is 0 if there is nothing but
/// noise, 6 if there is only drift, 1 if something failed, and 2 if the
/// configurations of the servers differ, since nothing can be compared then.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Baseline file
    #[arg(value_name = "BASELINE")]
    baseline: PathBuf,
    /// Candidate file
    #[arg(value_name = "CANDIDATE")]
    candidate: PathBuf,
    #[command(flatten)]
    pub(super) how: HowArguments,
}

/// How to compare captures, and the format of the report.
#[derive(Debug, Args)]
pub(super) struct HowArguments {
    /// Only exchanges whose ID matches; `*` is any text, `?` any character
    #[arg(long, value_name = "GLOB")]
    pub(super) filter: Option<Glob>,
    /// Compare even if the server's configuration differs
    #[arg(long)]
    pub(super) ignore_config: bool,
    #[command(flatten)]
    format: FormatArguments,
}

/// The format of the report.
#[derive(Debug, Args)]
pub(super) struct FormatArguments {
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatArguments {
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

impl HowArguments {
    pub(super) fn options(&self) -> Options {
        Options {
            filter: self.filter.clone(),
            ignore_config: self.ignore_config,
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format.format()
    }
}

impl Arguments {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let baseline = file::read(&self.baseline)?;
        let candidate = file::read(&self.candidate)?;
        let found = compare(&baseline, &candidate, &self.how.options());
        let compared = Compared {
            baseline: &self.baseline.display().to_string(),
            candidate: &self.candidate.display().to_string(),
            models: [&baseline.identity.model_id, &candidate.identity.model_id],
            runs: [baseline.runs, candidate.runs],
            found: &found,
        };
        report::out(&self.how.format().text(&compared)?)?;
        Ok(format::exit(&found))
    }
}

const EXAMPLES: &str = "\
Examples:
  tapewright model-baseline diff sonnet-4.json sonnet-5.json
  tapewright model-baseline diff sonnet-4.json sonnet-5.json \\
      --filter '*::sums::*' --format markdown";
