//! What became of a replay, for the log.

use tapewright_replay::{Miss, Report};
use tapewright_schemas::conversation::shown;
use tracing::{info, warn};

/// Logs that a request was not recorded.
pub(crate) fn missed(miss: &Miss) {
    warn!(
        name: "missed",
        target: "tapewright::replay",
        method = shown(&miss.method),
        recorded = miss.recorded,
    );
}

/// Logs how a replay went.
pub(crate) fn replayed(report: &Report) {
    info!(
        name: "replayed",
        target: "tapewright::replay",
        sessions = report.sessions,
        served = report.served,
        missed = report.missed,
        unused = report.unused,
    );
}
