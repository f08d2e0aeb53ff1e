//! Known failures of suites: tests that are expected to fail.
//!
//! ```json
//! { "baseline": 1, "expected_failures": { "suites/search.yaml": ["finds Berlin"] } }
//! ```
//!
//! The format is that of `compliance`, with suites in place of servers and tests in place of
//! invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::files::NewFile;
use crate::report::{self, Mistake};
use crate::suite::result::{Results, Status};

/// What is known to fail.
#[derive(Debug, Args)]
#[command(next_help_heading = "Known failures")]
pub(crate) struct BaselineArguments {
    /// Tests that are known to fail
    ///
    /// The run fails if a test fails that is not listed, or if a listed test passes.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the current failures to the baseline
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
}

const VERSION: u64 = 1;
const HINT: &str = "expected `{\"baseline\": 1, \"expected_failures\": {\"SUITE\": [\"TEST\"]}}`";

/// The tests that are known to fail, by the path of their suite as given.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    baseline: u64,
    #[serde(default)]
    expected_failures: BTreeMap<String, BTreeSet<String>>,
}

/// A baseline that is in use.
#[derive(Debug)]
pub(super) struct Baseline {
    path: PathBuf,
    file: File,
    updates: bool,
}

impl BaselineArguments {
    /// Reads the baseline, if there is one. One that will be written may be missing.
    pub(super) fn read(&self) -> anyhow::Result<Option<Baseline>> {
        let Some(path) = &self.baseline else {
            return Ok(None);
        };
        let cannot = |why: &str, hint: &str| {
            let path = report::safe(&path.display().to_string());
            let why = report::safe(why);
            Mistake::new(format!("cannot read the baseline `{path}`: {why}"), hint)
        };
        let file = match fs::read(path) {
            Ok(text) => {
                serde_json::from_slice(&text).map_err(|why| cannot(&why.to_string(), HINT))?
            }
            Err(error) if error.kind() == ErrorKind::NotFound && self.update_baseline => File {
                baseline: VERSION,
                ..File::default()
            },
            Err(error) => {
                let hint = "write one with `--update-baseline`";
                return Err(cannot(&error.to_string(), hint).into());
            }
        };
        let File { baseline, .. } = file;
        if baseline != VERSION {
            let why = format!("unsupported version {baseline}; expected {VERSION}");
            return Err(cannot(&why, HINT).into());
        }
        Ok(Some(Baseline {
            path: path.clone(),
            file,
            updates: self.update_baseline,
        }))
    }
}

impl Baseline {
    /// Marks expected failures and stale entries, or brings the list up to date.
    pub(super) fn apply(&mut self, suite: &Path, results: &mut Results) {
        let suite = suite.display().to_string();
        if self.updates {
            self.take(&suite, results);
        }
        let none = BTreeSet::new();
        let known = self.file.expected_failures.get(&suite).unwrap_or(&none);
        let is_known = |title: &str| known.contains(title);
        for row in &mut results.rows {
            if row.status == Status::Fail && is_known(&row.title()) {
                row.status = Status::Known;
            }
        }
        let passed = |row: &&crate::suite::result::Row| row.status == Status::Pass;
        let stale: Vec<String> = results
            .rows
            .iter()
            .filter(passed)
            .map(crate::suite::result::Row::title)
            .filter(|title| is_known(title))
            .collect();
        results.notes.extend(stale.iter().map(|title| {
            format!("`{title}` is a known failure that now passes; remove it from the baseline")
        }));
        results.stale += stale.len();
    }

    /// Adds tests that fail now, and removes those that pass. Tests that did not run stay.
    fn take(&mut self, suite: &str, results: &Results) {
        let known = self
            .file
            .expected_failures
            .entry(suite.to_owned())
            .or_default();
        for row in &results.rows {
            match row.status {
                Status::Fail => {
                    known.insert(row.title());
                }
                Status::Pass => {
                    known.remove(&row.title());
                }
                _ => {}
            }
        }
        if known.is_empty() {
            self.file.expected_failures.remove(suite);
        }
    }

    /// Writes it, if it is to be updated.
    pub(super) fn finish(&self) -> anyhow::Result<()> {
        if !self.updates {
            return Ok(());
        }
        let mut text = serde_json::to_string_pretty(&self.file)?;
        text.push('\n');
        let mut file = NewFile::shared(&self.path)?;
        file.writer().write_all(text.as_bytes())?;
        file.commit(fs::metadata(&self.path).ok().map(|data| data.permissions()))
    }
}
