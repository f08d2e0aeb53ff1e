//! `tapewright model-baseline capture`: writes a model's answers to a file.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use tapewright_baselines::{Baseline, Glob, read_invariants};

use super::candidates::{Candidate, Captured};
use super::source::{Source, SourceArguments};
use super::suite::{self, Wanted};
use super::{file, recorded};
use crate::exit::Exit;
use crate::files::unreadable;
use crate::report::{self, Mistake};

/// Write a model's answers to a baseline
///
/// Reads the agent tests of a suite, a recording of an agent, or a file. Equal
/// runs give equal bytes. The invariants of an existing baseline are kept.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Only exchanges whose ID matches; `*` is any text, `?` any character
    #[arg(long, value_name = "GLOB")]
    filter: Option<Glob>,
    /// Invariants that every candidate must satisfy, as a JSON list
    #[arg(long, value_name = "FILE")]
    invariants: Option<PathBuf>,
    /// File to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    source: SourceArguments,
}

impl Arguments {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let source = self.source.source()?;
        // Refused before any model is asked.
        let before = self.output.as_deref().map(file::replaced).transpose()?;
        let declared = self.declared()?;
        let interrupted = tapewright_proxy::system::signals::interruption()?;
        let captured = match source {
            Source::Suites(paths) => {
                let filter = self.filter.as_ref();
                let all = suite::capture(&paths, &self.source, Wanted::One, filter, &interrupted)?;
                let Some(all) = all else {
                    return Ok(Exit::Unusable);
                };
                all.into_iter().next()
            }
            source => Some(recorded::capture(&self.source, &source)?),
        };
        if interrupted.load(Ordering::Relaxed) {
            return Ok(Exit::External(130));
        }
        let Captured {
            mut baseline,
            rules,
        } = whole(captured)?;
        if let Some(filter) = &self.filter {
            baseline.retain(filter);
        }
        if baseline.exchanges.is_empty() {
            report::note("nothing captured: no exchange, or none matches the filter");
            return Ok(Exit::Inconclusive);
        }
        if let Some(Some(Baseline { invariants, .. })) = before {
            baseline.invariants = invariants;
        }
        if let Some(declared) = declared {
            baseline.invariants = declared;
        }
        let text = file::text(&baseline, &rules)?;
        let Some(output) = &self.output else {
            report::out(&text)?;
            return Ok(Exit::Pass);
        };
        file::write(output, &text)?;
        let path = report::safe(&output.display().to_string());
        let model = report::safe(&baseline.identity.model_id);
        let count = baseline.exchanges.len();
        report::note(&format!("`{path}` has {count} exchanges with {model}"));
        Ok(Exit::Pass)
    }

    fn declared(&self) -> anyhow::Result<Option<Vec<tapewright_baselines::Invariant>>> {
        let Some(path) = &self.invariants else {
            return Ok(None);
        };
        let read = read_invariants(&file::bytes(path)?);
        read.map(Some).map_err(|error| {
            let hint = "expected a list of `{\"name\": …, \"kind\": …, \"condition\": {…}}`";
            unreadable(path, &error.to_string(), hint)
        })
    }
}

/// A capture of every test; a partial one would be mistaken for a complete one.
fn whole(candidate: Option<Candidate>) -> anyhow::Result<Captured> {
    let missing = match candidate {
        Some(Candidate {
            captured: Ok(captured),
            ..
        }) => return Ok(captured),
        Some(Candidate {
            captured: Err(missing),
            ..
        }) => missing,
        None => Vec::new(),
    };
    let missing: Vec<String> = missing.iter().map(|one| report::safe(one)).collect();
    let what = format!("some tests could not be captured: {}", missing.join("; "));
    let hint =
        "record its cassette with `tapewright run SUITE --record`, or set the key of its model";
    Err(Mistake::new(what, hint).into())
}

const EXAMPLES: &str = "\
Examples:
  tapewright model-baseline capture agents.yaml -o baseline.json
  tapewright model-baseline capture agents.yaml --model claude-sonnet-5 \\
      --live --runs 3 -o candidate.json
  tapewright model-baseline capture --recording runs/one/ \\
      --test agents.yaml::sums -o recorded.json
  tapewright model-baseline capture --input baseline.json \\
      --filter '*::step-1' > first-steps.json";
