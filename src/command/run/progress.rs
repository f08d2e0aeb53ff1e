//! How far a run is, on a terminal.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::report::progress::Progress;

/// Tests of several servers run at the same time, and share one line.
static SHOWN: Mutex<Option<Progress>> = Mutex::new(None);

/// Starts the line.
pub(crate) fn begin() {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Progress::count(0));
}

/// Shows how many tests are done, and which took longest.
pub(crate) fn show(done: usize, total: usize, slowest: &str, took: Duration) {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(progress) = shown.as_mut() {
        progress.of(total);
        progress.at(done as u64, &name(slowest, took));
    }
}

/// Leaves the line empty.
pub(crate) fn clear() {
    *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

fn name(slowest: &str, took: Duration) -> String {
    if slowest.is_empty() {
        return String::new();
    }
    let name: String = slowest.chars().take(NAME_CHARS).collect();
    format!("slowest: {name} ({} ms)", took.as_millis())
}

/// How many characters of a name are shown, to leave room for its time.
const NAME_CHARS: usize = 24;

#[cfg(test)]
mod tests {
    use super::{Duration, name};

    #[test]
    fn the_slowest_test_is_named() {
        assert_eq!(name("", Duration::ZERO), "");
        let took = Duration::from_millis(1_204);
        assert_eq!(name("adds", took), "slowest: adds (1204 ms)");
    }
}
