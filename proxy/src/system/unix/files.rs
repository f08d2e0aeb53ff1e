//! Files: their owners, and operations that differ between systems.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::system::NameProblem;

/// Opens a file; a new one is only accessible for its owner.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).open(path)
}

/// Opens a file whose permissions are set when it is complete; until then, only its owner can access
/// a new one.
pub fn open_shared(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open_own(options, path)
}

/// What is wrong with the names in a path: here every name is possible.
#[must_use]
pub fn name_problem(_: &Path) -> Option<NameProblem> {
    None
}

/// Creates a folder that only its owner can enter.
pub fn create_own_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Renames a complete file, replacing an existing one.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// The permissions of a file that other users may read, if they must be set.
#[must_use]
pub fn readable_by_all() -> Option<Permissions> {
    Some(Permissions::from_mode(0o644))
}

/// Whether it belongs to the current user.
#[must_use]
pub fn is_ours(data: &Metadata) -> bool {
    data.uid() == rustix::process::geteuid().as_raw()
}

/// Whether a link must not be followed. The rule is that of `protected_symlinks` in Linux: in a
/// folder that all users may write to, a link is only followed by its owner, or if it belongs to
/// the owner of the folder.
#[must_use]
pub fn is_foreign_link(link: &Metadata, folder: &Metadata) -> bool {
    let is_open = folder.mode() & 0o1002 != 0;
    is_open && !is_ours(link) && link.uid() != folder.uid()
}

/// Marks a file as being written, as long as it is open.
pub(crate) fn mark_written(file: &File) {
    // Without file locks the mark is missing; nothing else depends on it.
    drop(file.try_lock());
}

/// Whether an open file is still being written.
pub(crate) fn is_written(file: &File, _: &Path) -> bool {
    match file.try_lock_shared() {
        Ok(()) => {
            // Released here, or when the file is closed.
            drop(file.unlock());
            false
        }
        Err(error) => matches!(error, TryLockError::WouldBlock),
    }
}

/// Opens a file that is not written any more, and marks it; `None` if another process has marked it.
pub fn claim(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let is_taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    Ok((!is_taken).then_some(file))
}

/// A lock that only one process has for a folder.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "the lock lasts as long as it is open")] File);

/// Waits for the lock of a folder.
pub fn lock_folder(folder: &Path) -> io::Result<FolderLock> {
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(FolderLock(folder))
}

/// Reads at a position in a file, independent of other reads.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

/// Fills the buffer.
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

/// Writes at a position in a file, independent of reads.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// These bytes as a path; on other systems not all bytes are valid.
#[must_use]
pub fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(OsString::from_vec(bytes))
}

/// Distinguishes a file from another one that has replaced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl Identity {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let data = fs::metadata(path).ok()?;
        Some(Self {
            device: data.dev(),
            inode: data.ino(),
            size: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
        })
    }
}

/// The free space for a folder, in bytes.
pub(crate) fn room(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Renames a file to an unused name.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Atomically exchanges the names of two files.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}
