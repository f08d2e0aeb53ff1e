//! Files that get a name once they are whole.

use std::fs::File;
use std::io;
use std::path::Path;

/// Begins a file in a folder that has no name there: whatever becomes of us, nothing is left
/// of it. Not every file system can do so.
#[cfg(target_os = "linux")]
pub(crate) fn create(folder: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    Ok(open(folder, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Gives such a file a name that must be free.
#[cfg(target_os = "linux")]
pub(crate) fn name(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;

    use rustix::fs::{AtFlags, CWD, linkat};
    // By its number among our files: by itself it may be linked only with privileges.
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn create(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
