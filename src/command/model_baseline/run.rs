//! `tapewright model-baseline run`: captures and compares in one step, with one model or several.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::Args;
use tapewright_baselines::{Baseline, Comparison, compare};

use super::candidates::Candidate;
use super::diff::HowArguments;
use super::format::{self, Format};
use super::source::{Source, SourceArguments};
use super::suite::{self, Wanted};
use super::{file, recorded};
use crate::exit::Exit;
use crate::report;
use crate::report::baseline::{Column, Compared, Matrix};
use crate::report::formats::json;

/// Capture a candidate and compare it with a baseline
///
/// For a suite, every model in `model_compatibility` is compared, or else the
/// models of its tests. Several models make a table of models by tests.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Baseline file
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,
    /// Write each candidate to FOLDER/MODEL.json, for `accept`
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    #[command(flatten)]
    how: HowArguments,
    #[command(flatten)]
    source: SourceArguments,
}

impl Arguments {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        let baseline = file::read(&self.baseline)?;
        let source = self.source.source()?;
        let interrupted = tapewright_proxy::system::signals::interruption()?;
        let candidates = match source {
            Source::Suites(paths) => {
                let filter = self.how.filter.as_ref();
                let all = suite::capture(&paths, &self.source, Wanted::All, filter, &interrupted)?;
                let Some(all) = all else {
                    return Ok(Exit::Unusable);
                };
                all
            }
            source => vec![recorded::capture(&self.source, &source)?],
        };
        if interrupted.load(Ordering::Relaxed) {
            return Ok(Exit::External(130));
        }
        if let Some(folder) = &self.save {
            save(folder, &candidates)?;
        }
        let options = self.how.options();
        let columns = candidates.iter().map(|candidate| {
            let captured = candidate.captured.as_ref();
            let found = captured.map(|one| compare(&baseline, &one.baseline, &options));
            (candidate, found)
        });
        let columns: Vec<(&Candidate, Result<Comparison, &Vec<String>>)> = columns.collect();
        match columns.as_slice() {
            [(candidate, Ok(found))] => self.one(&baseline, candidate, found),
            several => self.several(&baseline, several),
        }
    }

    /// Reports one model as `diff` does.
    fn one(
        &self,
        baseline: &Baseline,
        candidate: &Candidate,
        found: &Comparison,
    ) -> anyhow::Result<Exit> {
        let runs = candidate
            .captured
            .as_ref()
            .map_or(1, |one| one.baseline.runs);
        let compared = Compared {
            baseline: &self.baseline.display().to_string(),
            candidate: &candidate.model,
            models: [&baseline.identity.model_id, &candidate.model],
            runs: [baseline.runs, runs],
            found,
        };
        report::out(&self.how.format().text(&compared)?)?;
        Ok(format::exit(found))
    }

    /// Reports a table of models by tests.
    fn several(
        &self,
        baseline: &Baseline,
        columns: &[(&Candidate, Result<Comparison, &Vec<String>>)],
    ) -> anyhow::Result<Exit> {
        let exits: Vec<Exit> = columns
            .iter()
            .map(|(_, found)| found.as_ref().map_or(Exit::Unusable, format::exit))
            .collect();
        let path = self.baseline.display().to_string();
        let columns = columns.iter().map(|(candidate, found)| Column {
            model: &candidate.model,
            runs: candidate
                .captured
                .as_ref()
                .map_or(1, |one| one.baseline.runs),
            found: found.as_ref().map_err(|missing| missing.as_slice()),
        });
        let matrix = Matrix {
            baseline: &path,
            model: &baseline.identity.model_id,
            runs: baseline.runs,
            columns: columns.collect(),
        };
        let text = match self.how.format() {
            Format::Pretty => matrix.pretty(),
            Format::Json => json::text(&matrix.json())?,
            Format::Markdown => matrix.markdown(),
            Format::Html => matrix.html(),
            Format::Junit => report::formats::junit::text(&matrix.report())?,
            Format::Github => report::formats::github::text(&matrix.report()),
        };
        report::out(&text)?;
        Ok(Exit::worst(&exits))
    }
}

/// Writes the captures.
fn save(folder: &Path, candidates: &[Candidate]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for candidate in candidates {
        let Ok(captured) = &candidate.captured else {
            continue;
        };
        let path = folder.join(slug(&candidate.model) + ".json");
        file::replaced(&path)?;
        file::write(&path, &file::text(&captured.baseline, &captured.rules)?)?;
    }
    Ok(())
}

/// A model as a file name.
fn slug(model: &str) -> String {
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let letter = |letter| if is_kept(letter) { letter } else { '_' };
    let name: String = model.chars().map(letter).collect();
    // File names must not be hidden.
    name.trim_start_matches('.').to_owned()
}

const EXAMPLES: &str = "\
Examples:
  tapewright model-baseline run agents.yaml --baseline baseline.json \\
      --model claude-sonnet-5
  tapewright model-baseline run agents.yaml --baseline baseline.json \\
      --save candidates/ --format html > models.html
  tapewright model-baseline run agents.yaml --baseline baseline.json --live \\
      --runs 3
  tapewright model-baseline run --recording runs/one/ \\
      --test agents.yaml::sums --baseline baseline.json --ignore-config";
