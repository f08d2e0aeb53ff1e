//! What became of a recording, for the log.

use std::path::Path;

use tapewright_proxy::record::{Finished, Problem, Recorder};
use tracing::{info, warn};

use super::LogEar;

/// Logs what became of a recording, after everything that was heard of it.
pub(crate) fn recorded(ear: Option<LogEar>, finished: &Finished) {
    if let Some(ear) = ear {
        ear.finish();
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

/// Logs what is left of what nobody recorded.
pub(crate) fn served(ear: Option<LogEar>, recorder: &Recorder) {
    if let Some(ear) = ear {
        // Its writer hands on what it has before it ends.
        recorder.finish();
        ear.finish();
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
        other => {
            warn!(name: "file_unwritten", target: "tapewright::record", why = other.to_string());
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
