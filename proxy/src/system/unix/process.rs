//! Processes and threads.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, WaitId, WaitIdOptions, getrlimit, kill_process, setrlimit, waitid,
};
use tapewright_schemas::event::Exit;

use crate::system::Rank;

pub use rustix::process::Signal;

pub use super::ancestors::variable_above;

/// A program that is searched in `PATH` as by its client; by default it runs in the current folder.
/// It gets these variables in addition to ours; if `PATH` is one of them, it is searched there.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it is looked for here")]
pub(crate) fn command<N: AsRef<OsStr>>(
    program: &OsStr,
    folder: Option<&Path>,
    variables: &[(N, N)],
) -> io::Result<Command> {
    let mut command = Command::new(program);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    Ok(command)
}

/// How a process exited.
#[must_use]
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// The status with which this process exits: the system keeps eight bits.
#[must_use]
pub fn exit_code(status: i32) -> ExitCode {
    ExitCode::from(u8::try_from(status & 0xff).unwrap_or(u8::MAX))
}

/// Kills a process that was not waited for yet, so that its id is still valid.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // It may just have exited.
        kill_process(pid, Signal::KILL).ok();
    }
}

/// The id of a child as long as it can be signalled: a released id may belong to another process.
#[derive(Clone, Debug)]
pub(crate) struct LiveChild(Arc<Mutex<Option<Pid>>>);

impl LiveChild {
    pub(crate) fn of(child: &Child) -> Self {
        let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Self(Arc::new(Mutex::new(number)))
    }

    /// Signals it, unless it has exited.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(number) = *self.lock() {
            // It may just have exited.
            kill_process(number, signal).ok();
        }
    }

    /// Waits for its exit; the id is only released when no thread can signal it any more.
    pub(crate) fn wait(&self, mut child: Child) -> io::Result<Exit> {
        let number = *self.lock();
        if let Some(number) = number {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(number), options), Err(Errno::INTR)) {}
        }
        *self.lock() = None;
        Ok(exit_of(child.wait()?))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lowers the priority of this thread only; if that is not permitted, it is unchanged.
pub(crate) fn step_back(rank: Rank) {
    let nice = match rank {
        Rank::Behind => 10,
        Rank::Last => 19,
    };
    let _as_the_others = rustix::process::setpriority_process(None, nice);
}

/// The processor time of the calling thread so far.
pub(crate) fn processor_time() -> Duration {
    let told = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    // It is never negative.
    Duration::try_from(told).unwrap_or_default()
}

/// Raises the limit of open files to the permitted maximum, for connections.
pub(crate) fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: maximum,
        maximum,
    };
    // If it cannot be raised, fewer clients are served at once.
    setrlimit(Resource::Nofile, limit).ok();
}
