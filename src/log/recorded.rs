//! Logs the result of a recording.

use std::path::Path;

use tapewright_proxy::record::{Finished, Problem, Recorder};
use tapewright_proxy::traces::{Figures, Loss};
use tracing::{info, warn};

use super::LogListener;

/// Logs the result of a recording, after all of its events.
pub(crate) fn recorded(listener: Option<LogListener>, finished: &Finished) {
    if let Some(listener) = listener {
        listener.finish();
    }
    for problem in &finished.problems {
        tell(problem);
    }
    let sessions = finished.sessions.iter();
    let files = sessions.flat_map(|one| one.cassette.iter().chain(&one.capture));
    for file in finished
        .cassette
        .iter()
        .chain(&finished.capture)
        .chain(files)
    {
        info!(name: "file_written", target: "tapewright::record", file = shown(file));
    }
    info!(
        name: "recorded",
        target: "tapewright::record",
        tape = finished.tape.as_deref().map(shown),
        events = finished.events,
        lost_events = finished.gaps.events,
        lost_bytes = finished.gaps.bytes,
        whole = finished.is_whole(),
    );
}

/// Logs the counts of exported spans.
pub(crate) fn traced(figures: &Figures) {
    let (sent, lost) = (figures.sent(), figures.all_lost());
    // Spans that did not fit into the queue are reported in one line; other losses were logged as
    // they happened.
    let spans = figures.lost(Loss::QueueFull);
    if spans > 0 {
        let why = Loss::QueueFull.name();
        warn!(name: "spans_lost", target: "tapewright::traces", spans, why);
    }
    let unread_bytes = figures.unread_bytes();
    info!(name: "spans_sent", target: "tapewright::traces", sent, lost, unread_bytes);
}

/// Logs the counts of exported durations.
pub(crate) fn measured(figures: &Figures) {
    let (sent, lost) = (figures.sent(), figures.all_lost());
    info!(name: "points_sent", target: "tapewright::traces", sent, lost);
}

/// Logs the rest of an unrecorded run.
pub(crate) fn served(listener: Option<LogListener>, recorder: &Recorder) {
    if let Some(listener) = listener {
        // The recorder's writer passes on what it has before it ends.
        recorder.finish();
        listener.finish();
    }
}

fn tell(problem: &Problem) {
    match problem {
        Problem::Kept { path, why } => {
            warn!(name: "file_kept", target: "tapewright::record", file = shown(path), why);
        }
        Problem::Unwritten { path, why } => {
            warn!(name: "file_unwritten", target: "tapewright::record", file = shown(path), why = why.as_str());
        }
        Problem::Empty { path } => {
            warn!(name: "file_unwritten", target: "tapewright::record", file = shown(path), why = "no message was recorded");
        }
        other => {
            warn!(name: "file_unwritten", target: "tapewright::record", why = other.to_string());
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
