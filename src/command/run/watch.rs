//! Waits until a file changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::report;

/// How often the files are checked. People do not save faster, and this works on every file system.
const PAUSE: Duration = Duration::from_millis(300);

/// Files with their states before they were read.
#[derive(Debug, Default)]
pub(super) struct Watched {
    // All files that were ever read: the state is taken before a run, so that a change during the
    // run is noticed.
    states: BTreeMap<PathBuf, Option<State>>,
    // The files that this run has read.
    read: BTreeSet<PathBuf>,
}

/// Time and length.
type State = (SystemTime, u64);

impl Watched {
    /// Begins another run. Changes from now on count.
    pub(super) fn begin(&mut self) {
        for (file, known) in &mut self.states {
            *known = state(file);
        }
        self.read.clear();
    }

    /// Adds files that are read in this run.
    pub(super) fn note(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        for file in files {
            let now = || state(&file);
            self.states.entry(file.clone()).or_insert_with(now);
            self.read.insert(file);
        }
    }

    /// Waits until the state of a file changes.
    pub(super) fn wait(&self) {
        let count = self.read.len();
        let files = if count == 1 { "file" } else { "files" };
        report::note(&format!("watching {count} {files}; stop with Ctrl-C"));
        let is_same = |file: &PathBuf| self.states.get(file) == Some(&state(file));
        while self.read.iter().all(is_same) {
            std::thread::sleep(PAUSE);
        }
    }
}

/// `None` if the file does not exist.
fn state(path: &Path) -> Option<State> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_while_a_file_is_read_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.yaml");
        std::fs::write(&path, "one").unwrap();
        let mut files = Watched::default();
        files.note([path.clone()]);
        files.begin();
        // The state before the read is compared, so a later change is noticed.
        std::fs::write(&path, "changed").unwrap();
        files.note([path.clone()]);
        files.wait();
        // A file that this run does not read is ignored.
        files.begin();
        assert!(files.read.is_empty());
    }
}
