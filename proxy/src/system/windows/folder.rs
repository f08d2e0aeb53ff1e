//! A folder that only its owner can access.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use super::files::{create_own_folder, open_own, replace};
use crate::system::FolderProblem;

/// A folder that only its owner can access, if it was created here: the access list of one that
/// exists cannot be read without `unsafe`.
pub(crate) struct Folder {
    path: PathBuf,
    // The file whose lock keeps others out, if locked.
    lock: Mutex<Option<File>>,
}

/// The interval between attempts to lock.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The maximum length of a file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

impl Folder {
    /// Opens a folder, which is created if necessary.
    pub(crate) fn at(path: &Path) -> Result<Self, FolderProblem> {
        let files = |error: io::Error| FolderProblem::of(path, error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(files)?;
        }
        match create_own_folder(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(files(error)),
            _ => {}
        }
        if !path.is_dir() {
            return Err(files(io::ErrorKind::NotADirectory.into()));
        }
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
        let file = file.map_err(|error| FolderProblem::of(&path, error))?;
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
                Err(TryLockError::Error(error)) => return Err(FolderProblem::of(&path, error)),
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
            Err(error) => return Err(FolderProblem::of(&path, error)),
        };
        let mut text = String::new();
        let read = file.take(LONGEST).read_to_string(&mut text);
        read.map_err(|error| FolderProblem::of(&path, error))?;
        Ok(Some(text))
    }

    /// Writes a file atomically.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), FolderProblem> {
        let path = self.path.join(name);
        // One left behind by a killed recorder is overwritten: a live one holds the lock.
        let fresh = self.path.join(format!(".{name}.new"));
        let write = || {
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(true);
            let mut file = open_own(options, &fresh)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            replace(&fresh, &path)
        };
        write()
            .inspect_err(|_| fs::remove_file(&fresh).unwrap_or_default())
            .map_err(|error| FolderProblem::of(&path, error))
    }
}
