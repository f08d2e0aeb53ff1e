//! Descriptors as chunk sources and sinks.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec, read, write};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};

use crate::upstream::{ChunkSink, ChunkSource, ReadResult};

use tapewright_schemas::slices::Part as _;

/// The size of pipes to children, in bytes, if the system allows it: fewer switches between
/// processes for large messages.
#[cfg(target_os = "linux")]
const PIPE_SIZE: usize = 1 << 20;

/// The maximum wait on a descriptor that another process made non-blocking.
const LONG: Duration = Duration::from_secs(60);

/// One end of a pipe, socket, file or terminal.
#[derive(Debug)]
pub(crate) struct Pipe(Arc<OwnedFd>);

/// A reference to a pipe that does not keep it open.
#[derive(Debug)]
pub(crate) struct Watch(Weak<OwnedFd>);

impl Watch {
    /// Whether the pipe has no reader.
    pub(crate) fn is_broken(&self) -> bool {
        let Some(fd) = self.0.upgrade() else {
            return true;
        };
        let mut fds = [PollFd::new(&*fd, PollFlags::empty())];
        let now = Timespec::default();
        let broken = PollFlags::ERR | PollFlags::HUP;
        poll(&mut fds, Some(&now)).is_ok() && fds.iter().any(|fd| fd.revents().intersects(broken))
    }
}

impl Pipe {
    /// The end of a pipe to a child, enlarged.
    pub(crate) fn to_child(fd: impl Into<OwnedFd>) -> Self {
        let fd = fd.into();
        #[cfg(target_os = "linux")]
        // The user's limit may be reached; a small pipe works as well.
        rustix::pipe::fcntl_setpipe_size(&fd, PIPE_SIZE).ok();
        Self(Arc::new(fd))
    }

    /// A reference to this pipe for another thread.
    pub(crate) fn watch(&self) -> Watch {
        Watch(Arc::downgrade(&self.0))
    }

    /// Takes over the process's standard input and output. Nothing else in this process can write
    /// to the client afterwards, and dropping a pipe closes it for the client.
    pub(crate) fn take_standard() -> io::Result<(Self, Self)> {
        let input = fcntl_dupfd_cloexec(stdin(), 3)?;
        let output = fcntl_dupfd_cloexec(stdout(), 3)?;
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        Ok((Self(Arc::new(input)), Self(Arc::new(output))))
    }

    /// The process's standard error, shared with other code.
    pub(crate) fn standard_error() -> io::Result<Self> {
        Ok(Self(Arc::new(fcntl_dupfd_cloexec(stderr(), 3)?)))
    }

    /// Waits until the descriptor is ready; returns false after `timeout`.
    fn wait(&self, flags: PollFlags, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(|_| Errno::INVAL)?;
        let mut fds = [PollFd::new(&*self.0, flags)];
        loop {
            match poll(&mut fds, Some(&timeout)) {
                Ok(ready) => return Ok(ready > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl ChunkSource for Pipe {
    fn read(&mut self, space: &mut Vec<u8>, timeout: Option<Duration>) -> io::Result<ReadResult> {
        if let Some(timeout) = timeout
            && !self.wait(PollFlags::IN, timeout)?
        {
            return Ok(ReadResult::TimedOut);
        }
        loop {
            match read(self.0.as_fd(), spare_capacity(space)) {
                // Or a terminal or socket whose other end is gone.
                Ok(0) | Err(Errno::IO | Errno::CONNRESET) => return Ok(ReadResult::End),
                Ok(count) => return Ok(ReadResult::Bytes(count)),
                Err(Errno::INTR) => {}
                // Another process made the shared description non-blocking.
                Err(Errno::AGAIN) => {
                    self.wait(PollFlags::IN, LONG)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn is_over(&mut self) -> bool {
        let mut fds = [PollFd::new(&*self.0, PollFlags::empty())];
        let now = Timespec::default();
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        poll(&mut fds, Some(&now)).is_ok() && fds.iter().any(|one| one.revents().intersects(gone))
    }
}

impl ChunkSink for Pipe {
    fn write(&mut self, mut chunk: &[u8]) -> io::Result<()> {
        while !chunk.is_empty() {
            match write(self.0.as_fd(), chunk) {
                Ok(count) => chunk = chunk.part(count..),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.wait(PollFlags::OUT, LONG)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
