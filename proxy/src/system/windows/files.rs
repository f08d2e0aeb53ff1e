//! Files: what cannot be said of them in the same way everywhere.
//!
//! Who may read a file is told by the folder that it is made in: `%LOCALAPPDATA%` and `%TEMP%` are their
//! user's own.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use tapewright_schemas::slices::{Part as _, PartMut as _};
use winsafe::{GetDiskFreeSpaceEx, MoveFileEx, co::MOVEFILE};

/// How often something is tried again that another program may be in the way of for a moment.
const TRIES: u32 = 20;
/// How long in between.
const PAUSE: Duration = Duration::from_millis(10);

/// Does what another program, such as a virus scanner, may be in the way of for a moment.
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

/// Opens a file; one that is made has the permissions of its folder.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// Makes a folder, with the permissions of the one that it is in.
pub fn create_own_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Gives a whole file its name, in the place of what stands there.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    patiently(|| fs::rename(from, to))
}

/// The permissions of a file that others may read, where they must be given: its folder gives them.
#[must_use]
pub fn readable_by_all() -> Option<Permissions> {
    None
}

/// Whether it belongs to the user that we are. What is known here does not tell; folders in which
/// others may make files are rare.
#[must_use]
pub fn is_ours(_: &Metadata) -> bool {
    true
}

/// Whether a link must not be followed: to make one takes a privilege.
#[must_use]
pub fn is_foreign_link(_link: &Metadata, _folder: &Metadata) -> bool {
    false
}

/// Reads at a place in a file.
pub fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(bytes, at)
}

/// Reads as much as there is room for.
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

/// Writes all of it at a place in a file.
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

/// What is made of these bytes where they are a path; here a path is text.
#[must_use]
pub fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

/// What tells one file from another that has taken its name.
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

/// How much may still be written into a folder, in bytes.
pub(crate) fn room(folder: &Path) -> io::Result<u64> {
    let mut free = 0;
    let folder = text(folder)?;
    GetDiskFreeSpaceEx(Some(folder), Some(&mut free), None, None).map_err(system_error)?;
    Ok(free)
}

/// Gives a file another name, which must be free.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (text(from)?, text(to)?);
    patiently(|| MoveFileEx(from, Some(to), MOVEFILE::WRITE_THROUGH).map_err(system_error))
}

/// Two files exchange their names. Not at once: where it breaks off, the second one has a name beside its own.
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
