//! Waiting until a file has changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::report;

/// How often the files are looked at. People do not save faster, and no file system has to
/// tell us.
const PAUSE: Duration = Duration::from_millis(300);

/// Files as they were when they were read.
#[derive(Debug, Default)]
pub(super) struct Watched(BTreeMap<PathBuf, Option<State>>);

/// Time and length.
type State = (SystemTime, u64);

impl Watched {
    /// Takes note of files, those that are known aside. What changes from now on is a
    /// change.
    pub(super) fn note(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        for file in files {
            let now = state(&file);
            self.0.entry(file).or_insert(now);
        }
    }

    /// Waits until one of the files is not as it was.
    pub(super) fn wait(&self) {
        let count = self.0.len();
        let files = if count == 1 { "file" } else { "files" };
        report::note(&format!("watching {count} {files}; end with Ctrl-C"));
        while self.0.iter().all(|(file, before)| state(file) == *before) {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Nothing where there is no file.
fn state(path: &Path) -> Option<State> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}
