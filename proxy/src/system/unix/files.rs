//! Files: whose they are, and what cannot be said of them in the same way everywhere.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Opens a file; one that is made is for its owner alone.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.mode(0o600).open(path)
}

/// Makes a folder that only its owner can enter.
pub fn create_own_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Gives a whole file its name, in the place of what stands there.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// The permissions of a file that others may read, where they must be given.
#[must_use]
pub fn readable_by_all() -> Option<Permissions> {
    Some(Permissions::from_mode(0o644))
}

/// Whether it belongs to the user that we are.
#[must_use]
pub fn is_ours(data: &Metadata) -> bool {
    data.uid() == rustix::process::geteuid().as_raw()
}

/// Whether a link must not be followed. The rule is the one of Linux' `protected_symlinks`: in a
/// folder that everybody may write a link is followed for its owner, and for those whom the folder
/// belongs to.
#[must_use]
pub fn is_foreign_link(link: &Metadata, folder: &Metadata) -> bool {
    let is_open = folder.mode() & 0o1002 != 0;
    is_open && !is_ours(link) && link.uid() != folder.uid()
}

/// Reads at a place in a file, whatever else is read of it.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(bytes, at)
}

/// Reads as much as there is room for.
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(bytes, at)
}

/// Writes all of it at a place in a file, whatever else is read of it.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// What is made of these bytes where they are a path; a system may have paths that are none.
#[must_use]
pub fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(OsString::from_vec(bytes))
}

/// What tells one file from another that has taken its name.
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

/// How much may still be written into a folder, in bytes.
pub(crate) fn room(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Gives a file another name, which must be free.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

/// Two files exchange their names, at once.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}
