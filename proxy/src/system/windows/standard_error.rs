//! The process's standard error, which other processes may share.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle as _;

/// Another handle to it, without `std`'s lock: a stalled reader must not block other threads.
pub fn shared() -> io::Result<File> {
    Ok(File::from(io::stderr().as_handle().try_clone_to_owned()?))
}

/// Whether a write would block: unknown on this system until it does.
#[must_use]
pub fn is_full(_: &File) -> bool {
    false
}

/// Waits until a write is possible: it is never non-blocking on this system.
pub fn wait(_: &File) {}
