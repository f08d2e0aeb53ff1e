//! A folder that only its owner can access.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{
    AtFlags, FlockOperation, Mode, OFlags, Stat, flock, fstat, mkdirat, open, openat, renameat,
    unlinkat,
};
use rustix::io::Errno;

use crate::system::FolderProblem;

/// An open folder that only the current user can access: operations relative to it cannot be
/// redirected.
pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

/// The permissions of everyone but the owner.
const OTHERS: u32 = 0o077;

/// The interval between attempts to lock.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// The maximum length of a file that is read, in bytes.
const LONGEST: u64 = 1 << 20;

impl Folder {
    /// Opens a folder, which is created if necessary.
    pub(crate) fn at(path: &Path) -> Result<Self, FolderProblem> {
        let files = |source: io::Error| FolderProblem::of(path, source);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(files)?;
        }
        made(rustix::fs::mkdir(path, Mode::RWXU)).map_err(|error| files(error.into()))?;
        let fd = open(path, flags(), Mode::empty()).map_err(|error| files(error.into()))?;
        Self::checked(fd, path.to_owned())
    }

    /// Opens a folder in it, which is created if necessary.
    pub(crate) fn inside(&self, name: &str) -> Result<Self, FolderProblem> {
        let path = self.path.join(name);
        let files = |error: Errno| FolderProblem::of(&path, error.into());
        made(mkdirat(&self.fd, name, Mode::RWXU)).map_err(files)?;
        let fd = openat(&self.fd, name, flags(), Mode::empty()).map_err(files)?;
        Self::checked(fd, path)
    }

    fn checked(fd: OwnedFd, path: PathBuf) -> Result<Self, FolderProblem> {
        let found = fstat(&fd).map_err(|error| FolderProblem::of(&path, error.into()))?;
        check(&found, &path)?;
        Ok(Self { fd, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Locks other recorders out until the folder is dropped; waits for them for this time.
    pub(crate) fn lock(&self, patience: Duration) -> Result<(), FolderProblem> {
        let mut waited = Duration::ZERO;
        loop {
            match flock(&self.fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if waited < patience => {
                    sleep(LOOK_AGAIN);
                    waited += LOOK_AGAIN;
                }
                Err(Errno::WOULDBLOCK) => {
                    let path = self.path.clone();
                    return Err(FolderProblem::Locked { path });
                }
                Err(error) => return Err(FolderProblem::of(&self.path, error.into())),
            }
        }
    }

    /// The content of a file; `None` if there is none.
    pub(crate) fn read(&self, name: &str) -> Result<Option<String>, FolderProblem> {
        let path = self.path.join(name);
        let files = |error: io::Error| FolderProblem::of(&path, error);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(files(error.into())),
        };
        check(&fstat(&fd).map_err(|error| files(error.into()))?, &path)?;
        let mut text = String::new();
        File::from(fd)
            .take(LONGEST)
            .read_to_string(&mut text)
            .map_err(files)?;
        Ok(Some(text))
    }

    /// Writes a file for its owner only, atomically.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), FolderProblem> {
        let fresh = format!(".{name}.new");
        let files = |error: io::Error| FolderProblem::of(&self.path.join(name), error);
        // Left behind by a killed recorder: a live one holds the lock.
        unlinkat(&self.fd, &*fresh, AtFlags::empty()).ok();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let fd = openat(&self.fd, &*fresh, flags, mode).map_err(|error| files(error.into()))?;
        let mut file = File::from(fd);
        file.write_all(text.as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(renameat(&self.fd, &*fresh, &self.fd, name)?))
            .inspect_err(|_| unlinkat(&self.fd, &*fresh, AtFlags::empty()).unwrap_or_default())
            .map_err(files)
    }
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn made(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

/// Refuses files that belong to another user, or that other users can access.
fn check(found: &Stat, path: &Path) -> Result<(), FolderProblem> {
    let path = path.to_owned();
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(FolderProblem::Foreign { path });
    }
    let mode = found.st_mode & 0o7777;
    if mode & OTHERS != 0 {
        return Err(FolderProblem::Loose { path, mode });
    }
    Ok(())
}
