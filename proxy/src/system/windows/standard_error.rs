//! Our standard error, which others may have as well.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle as _;

/// Another handle on it. Not by `std`'s lock: a reader that has stalled must not block other threads.
pub fn shared() -> io::Result<File> {
    Ok(File::from(io::stderr().as_handle().try_clone_to_owned()?))
}

/// Whether what is written would have to wait: nothing tells, so that it is found out by waiting.
#[must_use]
pub fn is_full(_: &File) -> bool {
    false
}

/// Waits until something can be written: nobody makes it non-blocking here.
pub fn wait(_: &File) {}
