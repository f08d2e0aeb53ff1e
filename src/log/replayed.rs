//! Logs the results of a replay.

use tapewright_replay::models::ModelMiss;
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

/// Logs that a model call was not recorded.
pub(crate) fn missed_model(miss: &ModelMiss) {
    let method = format!("models/{}", miss.wire);
    warn!(
        name: "missed",
        target: "tapewright::replay",
        method = method.as_str(),
        recorded = miss.recorded,
    );
}

/// Logs the summary of a replay.
pub(crate) fn replayed(report: &Report) {
    let models = report.models.as_ref();
    let (served, missed, unused) = models.map_or((0, 0, 0), |models| {
        (models.served, models.missed, models.unused)
    });
    info!(
        name: "replayed",
        target: "tapewright::replay",
        sessions = report.sessions,
        served = report.served + served,
        missed = report.missed + missed,
        unused = report.unused + unused,
    );
}
