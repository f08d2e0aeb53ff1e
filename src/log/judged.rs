//! Logs the results of judging.

use std::path::Path;

use tapewright_replay::verify::Check;
use tracing::{debug, info};

use crate::command::compliance::Verdicts;
use crate::suite::result::{Results, Status};

/// Logs the results of a suite's tests. Their names may contain the values of variables.
pub(crate) fn tested(suite: &Path, results: &Results) {
    for row in &results.rows {
        let took_ms = row.took.map(|took| took.as_secs_f64() * 1e3);
        let status = row.status.name();
        debug!(name: "test", target: "tapewright::check", test = row.case + 1, status, took_ms);
    }
    info!(
        name: "tested",
        target: "tapewright::check",
        suite = suite.display().to_string(),
        tests = results.rows.len(),
        passed = results.count(Status::Pass),
        failed = results.count(Status::Fail),
        unjudged = results.count(Status::Error),
    );
}

/// Logs the result of a verification.
pub(crate) fn verified(checks: &[Check]) {
    let drifted = checks.iter().filter(|check| check.has_drifted()).count();
    info!(name: "verified", target: "tapewright::check", requests = checks.len(), drifted);
}

/// Logs the verdicts on recorded sessions.
pub(crate) fn judged(verdicts: &Verdicts) {
    info!(
        name: "judged",
        target: "tapewright::check",
        recordings = verdicts.servers.len(),
        hazards = verdicts.hazards.len(),
        holds = verdicts.holds(),
    );
}

/// Logs that a suite was written.
pub(crate) fn suite_written(file: &Path, tests: usize, stubs: usize) {
    let file = file.display();
    info!(name: "suite_written", target: "tapewright::check", %file, tests, stubs);
}
