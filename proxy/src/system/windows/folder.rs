//! A private folder. Its parent determines who may read it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use super::files::replace;

/// A private folder.
pub(crate) struct Folder {
    path: PathBuf,
    // The file whose lock keeps others out, if locked.
    lock: Mutex<Option<File>>,
}

/// Why a folder cannot be used.
#[derive(Debug)]
#[expect(
    dead_code,
    reason = "whose it is, and who else may look into it, is not asked here"
)]
pub(crate) enum FolderProblem {
    /// The system returned an error.
    Files { path: PathBuf, source: io::Error },
    /// Other users may read or write it.
    Loose { path: PathBuf, mode: u32 },
    /// It belongs to another user.
    Foreign { path: PathBuf },
    /// Another process keeps it locked.
    Locked { path: PathBuf },
}

/// The interval between attempts to lock.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The maximum length of a file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

impl Folder {
    /// Opens a folder, which is created if necessary.
    pub(crate) fn at(path: &Path) -> Result<Self, FolderProblem> {
        fs::create_dir_all(path).map_err(|error| problem(path, error))?;
        Ok(Self {
            path: path.to_owned(),
            lock: Mutex::default(),
        })
    }

    /// Opens a folder in it, which is created if necessary.
    pub(crate) fn inside(&self, name: &str) -> Result<Self, FolderProblem> {
        Self::at(&self.path.join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Locks other recorders out until the folder is dropped; waits for them for this time.
    pub(crate) fn lock(&self, patience: Duration) -> Result<(), FolderProblem> {
        let path = self.path.join(".lock");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| problem(&path, error))?;
        let mut waited = Duration::ZERO;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if waited < patience => {
                    sleep(LOOK_AGAIN);
                    waited += LOOK_AGAIN;
                }
                Err(TryLockError::WouldBlock) => {
                    let path = self.path.clone();
                    return Err(FolderProblem::Locked { path });
                }
                Err(TryLockError::Error(error)) => return Err(problem(&path, error)),
            }
        }
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
        Ok(())
    }

    /// The content of a file; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, FolderProblem> {
        let path = self.path.join(name);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(problem(&path, error)),
        };
        let mut text = String::new();
        let read = file.take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| problem(&path, error))?;
        Ok(Some(text))
    }

    /// Writes a file atomically.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), FolderProblem> {
        let path = self.path.join(name);
        // One left behind by a killed recorder is overwritten: a live one holds the lock.
        let fresh = self.path.join(format!(".{name}.new"));
        let write = || {
            let mut file = File::create(&fresh)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            replace(&fresh, &path)
        };
        write()
            .inspect_err(|_| fs::remove_file(&fresh).unwrap_or_default())
            .map_err(|error| problem(&path, error))
    }
}

fn problem(path: &Path, source: io::Error) -> FolderProblem {
    FolderProblem::Files {
        path: path.to_owned(),
        source,
    }
}
