//! Known failures, applied to verdicts.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use tapewright_compliance::baseline::{Baseline, Expectation};
use tapewright_compliance::code::Code;
use tapewright_compliance::finding::Status;

use super::Verdicts;
use crate::files::NewFile;
use crate::report::{self, Mistake};

/// The result of applying a baseline to verdicts.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// How many failures and hazards were expected.
    pub(crate) expected: usize,
    /// Listed failures that no longer occur: the server, and the invariant.
    pub(crate) stale: Vec<(String, Code)>,
    /// Listed hazards that no longer occur.
    pub(crate) stale_hazards: Vec<String>,
}

impl Expectations {
    /// Whether the baseline has stale entries.
    pub(crate) fn is_stale(&self) -> bool {
        !self.stale.is_empty() || !self.stale_hazards.is_empty()
    }
}

/// Reads a baseline. With `writes`, the file may be missing.
pub(super) fn read(path: &Path, writes: bool) -> anyhow::Result<Baseline> {
    let cannot = |why: &str, hint: &str| {
        let path = report::safe(&path.display().to_string());
        let why = report::safe(why);
        Mistake::new(format!("cannot read the baseline `{path}`: {why}"), hint)
    };
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound && writes => {
            return Ok(Baseline::default());
        }
        Err(error) => {
            let hint = "write one with `--update-baseline`";
            return Err(cannot(&error.to_string(), hint).into());
        }
    };
    Baseline::read(&text).map_err(|error| {
        let hint = "expected `{\"baseline\": 1, \"expected_failures\": {\"LABEL\": [\"INV-…\"]}}`";
        cannot(&error.to_string(), hint).into()
    })
}

/// Marks what a baseline expects.
pub(super) fn apply(baseline: &Baseline, verdicts: &mut Verdicts) {
    let mut expectations = Expectations::default();
    for server in &mut verdicts.servers {
        for outcome in &server.outcomes {
            match baseline.expects(&server.label, outcome.code, outcome.status) {
                Expectation::Expected => {
                    expectations.expected += 1;
                    server.expected.insert(outcome.code);
                }
                Expectation::Stale => {
                    let stale = (server.label.clone(), outcome.code);
                    if !expectations.stale.contains(&stale) {
                        expectations.stale.push(stale);
                    }
                }
                Expectation::Unlisted => {}
            }
        }
    }
    // One of several sessions of a server may still fail.
    let fails = |label: &str, code: Code| {
        verdicts
            .servers
            .iter()
            .any(|server| server.label == label && server.expected.contains(&code))
    };
    expectations
        .stale
        .retain(|(label, code)| !fails(label, *code));
    for hazard in &verdicts.hazards {
        let expected = baseline.expects_hazard(hazard);
        expectations.expected += usize::from(expected);
        verdicts.expected_hazards.push(expected);
    }
    let stale = baseline.stale_hazards(&verdicts.hazards);
    expectations.stale_hazards = stale.map(str::to_owned).collect();
    verdicts.expectations = Some(expectations);
}

/// Brings a baseline up to date with the verdicts, and writes it.
pub(super) fn update(
    mut baseline: Baseline,
    verdicts: &Verdicts,
    path: &Path,
) -> anyhow::Result<Baseline> {
    // Failures come last: if one of several sessions of a server fails, that counts.
    for failures in [false, true] {
        for server in &verdicts.servers {
            for outcome in &server.outcomes {
                if (outcome.status == Status::Fail) == failures {
                    baseline.update(&server.label, outcome.code, outcome.status);
                }
            }
        }
    }
    baseline.update_hazards(&verdicts.hazards);
    let mut file = NewFile::shared(path)?;
    file.writer().write_all(baseline.write().as_bytes())?;
    file.commit(fs::metadata(path).ok().map(|data| data.permissions()))?;
    Ok(baseline)
}
