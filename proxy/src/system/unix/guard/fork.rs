//! A guard that is a fork of this process.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, getpgid, kill_process, setpgid, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::watch::watch;

/// A forked process that watches this one.
#[derive(Debug)]
pub(super) struct Forked {
    pid: Pid,
    // Closed when dropped.
    _pipe: OwnedFd,
}

impl Forked {
    /// Forks, which is only allowed with a single thread: a lock held by another thread would stay
    /// locked in the fork forever.
    pub(super) fn start() -> io::Result<Self> {
        if fs::read_dir("/proc/self/task")?.count() != 1 {
            return Err(io::Error::other("there are other threads"));
        }
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let (watched, held) = pipe_with(PipeFlags::CLOEXEC)?;
        let pid = match fork::fork()? {
            fork::Fork::Child => {
                drop(held);
                let status = guard(watched, nothing);
                #[expect(clippy::disallowed_methods, reason = "a fork has nothing to return to")]
                std::process::exit(status);
            }
            fork::Fork::Parent(pid) => Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidData)?,
        };
        // Both sides do it, so the order does not matter.
        setpgid(Some(pid), Some(pid)).ok();
        let guard = Self { pid, _pipe: held };
        if getpgid(Some(pid)) == Ok(pid) {
            return Ok(guard);
        }
        guard.end();
        Err(io::Error::other("the guard leads no group"))
    }

    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    pub(super) fn end(self) {
        kill_process(self.pid, Signal::KILL).ok();
        let wait = || waitpid(Some(self.pid), WaitOptions::empty());
        while matches!(wait(), Err(Errno::INTR)) {}
    }
}

/// The code of the fork. It releases the recorder's resources: the client must not wait for the
/// guard to close a pipe.
fn guard(watched: OwnedFd, nothing: File) -> i32 {
    let alone = setpgid(None, None)
        .and_then(|()| dup2_stdin(&nothing))
        .and_then(|()| dup2_stdout(&nothing))
        .and_then(|()| dup2_stderr(&nothing));
    drop(nothing);
    // A process in a folder would prevent unmounting it.
    drop(std::env::set_current_dir("/"));
    // For `ps`, which shows the arguments of the recorder as well.
    rustix::thread::set_name(c"tape-guard").ok();
    if alone.is_ok() {
        watch(File::from(watched));
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_forked() {
        std::thread::scope(|scope| {
            let (stay, end) = std::sync::mpsc::sync_channel::<()>(0);
            scope.spawn(move || end.recv());
            assert!(Forked::start().is_err());
            drop(stay);
        });
    }
}
