//! Files: operations that differ between systems.
//!
//! The folder determines who may read a file: `%LOCALAPPDATA%` and `%TEMP%` are only accessible for
//! their user.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tapewright_schemas::slices::{Part as _, PartMut as _};
use winsafe::{GetDiskFreeSpaceEx, MoveFileEx, co::MOVEFILE};

/// The number of attempts if another program may briefly block an operation.
const TRIES: u32 = 20;
/// The pause in between.
const PAUSE: Duration = Duration::from_millis(10);

/// Retries an operation that another program, such as a virus scanner, may briefly block.
fn patiently<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    /// Another program has it open and does not share it.
    const SHARING_VIOLATION: i32 = 32;
    /// It is about to be removed.
    const ACCESS_DENIED: i32 = 5;
    let mut tries = 0;
    loop {
        match work() {
            Err(error) if tries < TRIES => match error.raw_os_error() {
                Some(SHARING_VIOLATION | ACCESS_DENIED) => {
                    tries += 1;
                    sleep(PAUSE);
                }
                _ => return Err(error),
            },
            other => return other,
        }
    }
}

/// Opens a file; a new one has the permissions of its folder.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Creates a folder, with the permissions of its parent.
pub fn create_own_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Renames a complete file, replacing an existing one.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    patiently(|| fs::rename(from, to))
}

/// The permissions of a file that other users may read, if they must be set: here they come from
/// its folder.
#[must_use]
pub fn readable_by_all() -> Option<Permissions> {
    None
}

/// Whether it belongs to the current user. The metadata does not show it; folders in which other
/// users may create files are rare.
#[must_use]
pub fn is_ours(_: &Metadata) -> bool {
    true
}

/// Whether a link must not be followed: creating one requires a privilege.
#[must_use]
pub fn is_foreign_link(_link: &Metadata, _folder: &Metadata) -> bool {
    false
}

/// Reads at a position in a file.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(bytes, at)
}

/// Fills the buffer.
pub(crate) fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    let mut read = 0;
    while read < bytes.len() {
        match file.seek_read(bytes.part_mut(read..), at + read as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            more => read += more,
        }
    }
    Ok(())
}

/// Writes at a position in a file.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        match file.seek_write(bytes.part(written..), at + written as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => written += more,
        }
    }
    Ok(())
}

/// These bytes as a path; here a path is text.
#[must_use]
pub fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

/// Distinguishes a file from another one that has replaced it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    created: u64,
    size: u64,
    modified: u64,
}

impl Identity {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let data = fs::metadata(path).ok()?;
        Some(Self {
            created: data.creation_time(),
            size: data.file_size(),
            modified: data.last_write_time(),
        })
    }
}

/// The free space for a folder, in bytes.
pub(crate) fn room(folder: &Path) -> io::Result<u64> {
    let mut free = 0;
    let folder = text(folder)?;
    GetDiskFreeSpaceEx(Some(folder), Some(&mut free), None, None).map_err(system_error)?;
    Ok(free)
}

/// Renames a file to an unused name.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (text(from)?, text(to)?);
    patiently(|| MoveFileEx(from, Some(to), MOVEFILE::WRITE_THROUGH).map_err(system_error))
}

/// Exchanges the names of two files. Not atomic: after a failure, the second one may be left under
/// a temporary name.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let beside = other.with_extension("exchanged");
    rename_new(other, &beside)?;
    let moved = rename_new(one, other);
    let target = if moved.is_ok() { one } else { other };
    rename_new(&beside, target)?;
    moved
}

fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or(io::ErrorKind::InvalidFilename.into())
}

fn system_error(error: winsafe::co::ERROR) -> io::Error {
    io::Error::from_raw_os_error(error.raw().cast_signed())
}
