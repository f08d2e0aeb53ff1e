//! Our standard error, which others may have as well.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Another handle on it. Not by `std`'s lock: a reader that has stalled must not block other threads.
pub fn shared() -> io::Result<File> {
    Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?))
}

/// Whether what is written would have to wait.
#[must_use]
pub fn is_full(file: &File) -> bool {
    let nothing = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut fds = [PollFd::new(file, PollFlags::OUT)];
    poll(&mut fds, Some(&nothing)) == Ok(0)
}

/// Waits until something can be written: another process may have made it non-blocking.
pub fn wait(file: &File) {
    let mut fds = [PollFd::new(file, PollFlags::OUT)];
    // Whatever it is, the next write tells.
    poll(&mut fds, None).ok();
}
