//! `tapewright model-baseline diff`: two captures, exchange by exchange.

use std::path::PathBuf;

use clap::Args;
use tapewright_baselines::{Glob, Options, compare};

use super::file;
use super::format::{self, Format};
use crate::exit::Exit;
use crate::report;
use crate::report::baseline::Compared;

/// Tell how a candidate differs from a baseline, exchange by exchange
///
/// Exchanges are paired by their ids. The status is 0 where nothing differs but noise, 6 where
/// there is drift alone, and 1 where something failed. Another configuration of the server
/// makes the baseline worthless: then nothing is compared and the status is 2.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// What the model answered before
    #[arg(value_name = "BASELINE")]
    baseline: PathBuf,
    /// What it, or another one, answers now
    #[arg(value_name = "CANDIDATE")]
    candidate: PathBuf,
    #[command(flatten)]
    pub(super) how: HowArguments,
}

/// How captures are compared, and how that is told.
#[derive(Debug, Args)]
pub(super) struct HowArguments {
    /// Only exchanges whose ids this takes; `*` is any text, `?` any character
    #[arg(long, value_name = "GLOB")]
    pub(super) filter: Option<Glob>,
    /// Compare though the configuration of the server is another one
    #[arg(long)]
    pub(super) ignore_config: bool,
    #[command(flatten)]
    format: FormatArguments,
}

/// How it is told.
#[derive(Debug, Args)]
pub(super) struct FormatArguments {
    /// How to report
    #[arg(long, value_enum, default_value_t = Format::Pretty)]
    format: Format,
    /// The same as `--format json`
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
  tapewright model-baseline diff sonnet-4.json sonnet-5.json --filter '*::sums::*' --format markdown";
