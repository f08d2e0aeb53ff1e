//! `tapewright model-baseline accept`: turns a candidate into the baseline.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use tapewright_baselines::{Options, compare};

use super::diff::FormatArguments;
use super::file;
use crate::command::redaction;
use crate::command::run::is_ci;
use crate::exit::Exit;
use crate::report::baseline::Compared;
use crate::report::{self, Mistake};

/// Replace a baseline by a candidate, and show the differences
///
/// The baseline keeps its invariants, whatever the candidate declares.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The new baseline
    #[arg(value_name = "CANDIDATE")]
    candidate: PathBuf,
    /// The baseline to replace
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Allow this when the variable `CI` is true
    #[arg(long)]
    allow_update_in_ci: bool,
    #[command(flatten)]
    format: FormatArguments,
}

impl Arguments {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        if is_ci() && !self.allow_update_in_ci {
            return Err(Mistake::new(
                "`accept` is refused when the variable `CI` is true",
                "accept it on your machine and commit it, or add `--allow-update-in-ci`",
            )
            .into());
        }
        let old = file::read(&self.baseline)?;
        let mut new = file::read(&self.candidate)?;
        // A changed configuration is a reason to accept, not an error.
        let options = Options {
            ignore_config: true,
            filter: None,
        };
        let found = compare(&old, &new, &options);
        let compared = Compared {
            baseline: &self.baseline.display().to_string(),
            candidate: &self.candidate.display().to_string(),
            models: [&old.identity.model_id, &new.identity.model_id],
            runs: [old.runs, new.runs],
            found: &found,
        };
        report::out(&self.format.format().text(&compared)?)?;
        new.invariants.clone_from(&old.invariants);
        let path = report::safe(&self.baseline.display().to_string());
        if new == old {
            report::note(&format!("`{path}` is unchanged: no differences"));
            return Ok(Exit::Pass);
        }
        let rules = Arc::new(redaction::built_in(&redaction::of_environment()));
        file::write(&self.baseline, &file::text(&new, &rules)?)?;
        report::note(&format!(
            "`{path}` is the new baseline; commit it, and say why in the message"
        ));
        Ok(Exit::Pass)
    }
}

const EXAMPLES: &str = "\
Examples:
  tapewright model-baseline accept sonnet-5.json --baseline sonnet-4.json";
