//! Waiting until a file has changed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::report;

/// How often the files are looked at. People do not save faster, and no file system has to
/// tell us.
const PAUSE: Duration = Duration::from_millis(300);

/// Waits until one of the files is not as it was.
pub(super) fn wait(files: &[PathBuf]) {
    let before = state(files);
    report::note(&format!("watching {} files; end with Ctrl-C", files.len()));
    while state(files) == before {
        std::thread::sleep(PAUSE);
    }
}

/// Time and length of each file; nothing where there is none.
fn state(files: &[PathBuf]) -> Vec<Option<(SystemTime, u64)>> {
    let one = |path: &PathBuf| {
        let data = std::fs::metadata(path).ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    files.iter().map(one).collect()
}
