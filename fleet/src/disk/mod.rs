//! Finds tapes on a gateway's disk: their paths, their identity, and whether they are being
//! written.

mod cut;
mod head;

use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

pub use self::cut::Cut;
pub use self::head::{Head, Kind};

/// The ending of a tape's name.
const ENDING: &str = ".tape.jsonl";
/// How deep folders are searched.
const DEPTH: usize = 8;

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    device: u64,
    inode: u64,
}

/// A tape in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// Which file it is.
    pub id: FileId,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub changed: i128,
}

impl Found {
    /// From the file's metadata.
    #[must_use]
    pub fn of(path: PathBuf, meta: &Metadata) -> Self {
        Self {
            path,
            id: FileId {
                device: meta.dev(),
                inode: meta.ino(),
            },
            len: meta.len(),
            changed: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
        }
    }
}

/// The tapes below a folder, the one that was changed longest ago first. Links are not followed,
/// and unreadable folders are skipped.
pub fn find(folder: &Path) -> io::Result<Vec<Found>> {
    let mut found = find_ending(folder, ENDING)?;
    found.sort_by(|a, b| (a.changed, &a.path).cmp(&(b.changed, &b.path)));
    Ok(found)
}

/// The files below a folder with this ending after the name of a tape.
pub fn find_notes(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let found = find_ending(folder, &format!("{ENDING}{ending}"))?;
    Ok(found.into_iter().map(|found| found.path).collect())
}

fn find_ending(folder: &Path, ending: &str) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    // Only the folder itself must be readable.
    walk(&mut found, std::fs::read_dir(folder)?, ending, DEPTH);
    Ok(found)
}

fn walk(found: &mut Vec<Found>, entries: std::fs::ReadDir, ending: &str, depth: usize) {
    for entry in entries.flatten() {
        let Ok(meta) = entry.metadata() else { continue };
        let path = entry.path();
        if meta.is_dir() && depth > 0 {
            if let Ok(entries) = std::fs::read_dir(&path) {
                walk(found, entries, ending, depth - 1);
            }
        } else if meta.is_file() && path.to_string_lossy().ends_with(ending) {
            found.push(Found::of(path, &meta));
        }
    }
}

/// Whether a tape is being written: its recorder holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// It is being written.
    There,
    /// It is not.
    Gone,
    /// The file system has no locks.
    Unknown,
}

/// Whether a tape with a first line is being written. Must not be called for an empty one: its
/// recorder may be about to lock it.
#[must_use]
pub fn writer(file: &File) -> Writer {
    match file.try_lock_shared() {
        Ok(()) => {
            // The lock is released here, or with the file.
            drop(file.unlock());
            Writer::Gone
        }
        Err(TryLockError::WouldBlock) => Writer::There,
        Err(TryLockError::Error(_)) => Writer::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tapes_are_found_in_folders_and_not_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        let tape = deep.join("x.tape.jsonl");
        std::fs::write(&tape, "x").unwrap();
        std::fs::write(folder.path().join("x.json"), "x").unwrap();
        std::os::unix::fs::symlink(&tape, folder.path().join("link.tape.jsonl")).unwrap();
        std::os::unix::fs::symlink(folder.path(), deep.join("loop")).unwrap();
        let found = find(folder.path()).unwrap();
        let paths: Vec<&Path> = found.iter().map(|found| found.path.as_path()).collect();
        assert_eq!(paths, [tape.as_path()]);
        assert!(find(&folder.path().join("nowhere")).is_err());
    }

    #[test]
    fn a_lock_says_that_somebody_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tape.jsonl");
        let file = File::create(&path).unwrap();
        let reader = File::open(&path).unwrap();
        assert_eq!(writer(&reader), Writer::Gone);
        file.try_lock().unwrap();
        assert_eq!(writer(&reader), Writer::There);
        drop(file);
        assert_eq!(writer(&reader), Writer::Gone);
    }
}
