//! Files: their access lists, and operations that differ between systems.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, absolute};
use std::thread::sleep;
use std::time::Duration;

use tapewright_schemas::slices::{Part as _, PartMut as _};
use winsafe::{GetDiskFreeSpaceEx, MoveFileEx, co::MOVEFILE};

use super::owned::{self, system_path};
use crate::system::{NameProblem, names};

/// The number of attempts if another program may briefly block an operation.
const TRIES: u32 = 20;
/// The pause in between.
const PAUSE: Duration = Duration::from_millis(10);

/// Another program has it open and does not share it.
const SHARING_VIOLATION: i32 = 32;
/// It is about to be removed, or open without sharing that it is removed.
const ACCESS_DENIED: i32 = 5;
/// Sharing for reading and removing. Opening fails if the file is open for writing elsewhere.
const NOT_WRITTEN: u32 = 1 | 4;

/// Retries an operation that another program, such as a virus scanner, may briefly block.
pub(super) fn patiently<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
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

/// Opens a file; a new one is only accessible for its owner.
pub fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    owned::open(options, path)
}

/// Opens a file that has the permissions of its folder.
pub fn open_shared(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    patiently(|| options.open(path))
}

/// What is wrong with the names in a path.
#[must_use]
pub fn name_problem(path: &Path) -> Option<NameProblem> {
    names::problem(&path.to_string_lossy())
}

/// Creates a folder that only its owner can enter.
pub fn create_own_folder(path: &Path) -> io::Result<()> {
    owned::create_folder(path)
}

/// Renames a complete file, replacing an existing one.
pub fn replace(from: &Path, to: &Path) -> io::Result<()> {
    patiently(|| fs::rename(from, to)).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION | ACCESS_DENIED) => {
            let why = "another program has it open, or it is read-only";
            io::Error::new(io::ErrorKind::ResourceBusy, why)
        }
        _ => error,
    })
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

/// Marks a file as being written, as long as it is open. Being open for writing is the mark here: a
/// lock would keep other processes from reading the file.
pub(crate) fn mark_written(_: &File) {}

/// Whether a file is still being written.
pub(crate) fn is_written(_: &File, path: &Path) -> bool {
    let mut options = OpenOptions::new();
    let opened = options.read(true).share_mode(NOT_WRITTEN).open(path);
    opened.is_err_and(|error| error.raw_os_error() == Some(SHARING_VIOLATION))
}

/// Opens a file that is not written any more, and marks it; `None` if another process has marked it.
pub fn claim(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).share_mode(NOT_WRITTEN);
    match options.open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A lock that only one process of this user has for a folder.
#[derive(Debug)]
pub struct FolderLock(#[expect(dead_code, reason = "the lock lasts as long as it is open")] File);

/// Waits for the lock of a folder: that of a file among the temporary ones, since a folder has none.
pub fn lock_folder(folder: &Path) -> io::Result<FolderLock> {
    // Wine fails for long paths.
    let whole = fs::canonicalize(folder).or_else(|_| absolute(folder))?;
    // FNV-1a: all versions must agree on it.
    let bytes = whole.as_os_str().as_encoded_bytes().iter();
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = env::temp_dir().join(format!("tapewright-{hash:016x}.lock"));
    let file = open_own(OpenOptions::new().write(true).create(true), &path)?;
    file.lock()?;
    Ok(FolderLock(file))
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
    let folder = system_path(folder)?;
    GetDiskFreeSpaceEx(Some(&folder), Some(&mut free), None, None).map_err(system_error)?;
    Ok(free)
}

/// Renames a file to an unused name.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (system_path(from)?, system_path(to)?);
    patiently(|| MoveFileEx(&from, Some(&to), MOVEFILE::WRITE_THROUGH).map_err(system_error))
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

pub(super) fn system_error(error: winsafe::co::ERROR) -> io::Error {
    io::Error::from_raw_os_error(error.raw().cast_signed())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_is_written_as_long_as_it_is_open_for_writing_and_can_be_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.tape.jsonl");
        let mut writer = open_own(OpenOptions::new().append(true).create_new(true), &path).unwrap();
        mark_written(&writer);
        writer.write_all(b"line").unwrap();
        let reader = File::open(&path).unwrap();
        assert!(is_written(&reader, &path));
        assert!(claim(&path).unwrap().is_none());
        assert_eq!(fs::read_to_string(&path).unwrap(), "line");
        drop(writer);
        assert!(!is_written(&reader, &path));
        let claimed = claim(&path).unwrap().unwrap();
        assert!(claim(&path).unwrap().is_none() && is_written(&reader, &path));
        assert_eq!(fs::read_to_string(&path).unwrap(), "line");
        fs::remove_file(&path).unwrap();
        drop((claimed, reader));
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_is_open_can_be_renamed_and_replaced() {
        let place = tempfile::tempdir().unwrap();
        let name = |name: &str| place.path().join(name);
        for text in ["one", "two"] {
            let mut options = OpenOptions::new();
            let fresh = open_own(options.write(true).create_new(true), &name("new"));
            let mut fresh = fresh.unwrap();
            fresh.write_all(text.as_bytes()).unwrap();
            // Wine does not replace a file that is open.
            let is_windows = env::var_os("TAPEWRIGHT_ON_WINDOWS").is_some();
            let _reader = is_windows.then(|| File::open(name("a.json")));
            replace(&name("new"), &name("a.json")).unwrap();
            assert_eq!(fs::read_to_string(name("a.json")).unwrap(), text);
        }
        fs::write(name("b.json"), "b").unwrap();
        assert!(rename_new(&name("a.json"), &name("b.json")).is_err());
        exchange(&name("a.json"), &name("b.json")).unwrap();
        assert_eq!(fs::read_to_string(name("a.json")).unwrap(), "b");
        assert_eq!(fs::read_to_string(name("b.json")).unwrap(), "two");
    }

    #[test]
    fn a_file_that_another_program_does_not_share_stays_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let (path, new) = (place.path().join("a.json"), place.path().join("new"));
        fs::write(&path, "old").unwrap();
        fs::write(&new, "new").unwrap();
        let mut options = OpenOptions::new();
        let other = options.read(true).share_mode(1).open(&path).unwrap();
        let refused = replace(&new, &path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let waits = std::thread::spawn(move || replace(&new, &path).map(|()| path));
        drop(other);
        let path = waits.join().unwrap().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "new");
    }

    #[test]
    fn one_process_at_a_time_has_the_lock_of_a_folder() {
        let place = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        let lock = lock_folder(place.path()).unwrap();
        drop(lock_folder(other.path()).unwrap());
        let path = place.path().to_owned();
        let (first, order) = std::sync::mpsc::sync_channel(2);
        let second = first.clone();
        let waits = std::thread::spawn(move || {
            let lock = lock_folder(&path).unwrap();
            second.send("second").unwrap();
            drop(lock);
        });
        first.send("first").unwrap();
        drop(lock);
        waits.join().unwrap();
        assert_eq!(
            order.iter().take(2).collect::<Vec<_>>(),
            ["first", "second"]
        );
    }
}
