//! Waiting until a file has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::report;

/// How often the files are looked at. People do not save faster, and no file system has to
/// tell us.
const PAUSE: Duration = Duration::from_millis(300);

/// Files as they were before they were read.
#[derive(Debug, Default)]
pub(super) struct Watched {
    // All that were ever read: of those that are known, the state is taken before a run, so that
    // a change while it reads is one.
    states: BTreeMap<PathBuf, Option<State>>,
    // What this run has read.
    read: BTreeSet<PathBuf>,
}

/// Time and length.
type State = (SystemTime, u64);

impl Watched {
    /// Another run begins. What changes from now on is a change.
    pub(super) fn begin(&mut self) {
        for (file, known) in &mut self.states {
            *known = state(file);
        }
        self.read.clear();
    }

    /// Takes note of files that are read in this run.
    pub(super) fn note(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        for file in files {
            let now = || state(&file);
            self.states.entry(file.clone()).or_insert_with(now);
            self.read.insert(file);
        }
    }

    /// Waits until one of the files is not as it was.
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

/// Nothing where there is no file.
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
        // It was read as it was, and is noted once it has changed.
        std::fs::write(&path, "changed").unwrap();
        files.note([path.clone()]);
        files.wait();
        // What this run does not read is not waited for.
        files.begin();
        assert!(files.read.is_empty());
    }
}
