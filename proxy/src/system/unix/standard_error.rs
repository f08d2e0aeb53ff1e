//! The process's standard error, which other processes may share.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Another handle to it, without `std`'s lock: a stalled reader must not block other threads.
pub fn shared() -> io::Result<File> {
    Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?))
}

/// Whether a write would block.
#[must_use]
pub fn is_full(file: &File) -> bool {
    let nothing = Timespec::default();
    let mut fds = [PollFd::new(file, PollFlags::OUT)];
    poll(&mut fds, Some(&nothing)) == Ok(0)
}

/// Waits until a write is possible: another process may have made it non-blocking.
pub fn wait(file: &File) {
    let mut fds = [PollFd::new(file, PollFlags::OUT)];
    // An error shows with the next write.
    poll(&mut fds, None).ok();
}
