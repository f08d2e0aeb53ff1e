//! Processes and threads.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use tapewright_schemas::event::Exit;
use winsafe::HTHREAD;

use super::program;

/// What is asked of a process. The system has no signals: these are what the rest of the program
/// means by them, under the numbers that they have elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    /// The console is closed.
    pub const HUP: Self = Self(1);
    /// Ctrl-C.
    pub const INT: Self = Self(2);
    /// Ctrl-Break.
    pub const QUIT: Self = Self(3);
    /// To end at once.
    pub const KILL: Self = Self(9);
    /// To end.
    pub const TERM: Self = Self(15);

    /// Its number.
    #[must_use]
    pub fn as_raw(self) -> i32 {
        self.0
    }

    /// The one with this number.
    #[must_use]
    pub fn from_named_raw(number: i32) -> Option<Self> {
        [Self::HUP, Self::INT, Self::QUIT, Self::KILL, Self::TERM]
            .into_iter()
            .find(|signal| signal.0 == number)
    }

    /// Whether a process is ended by it. The others come from the console, which tells all who have it.
    pub(super) fn ends(self) -> bool {
        self == Self::KILL || self == Self::TERM
    }
}

/// A program that is looked up in `PATH` as its client would do, by `PATHEXT` as well: `npx` is
/// `npx.cmd`. Without a folder it runs in ours.
///
/// A batch file is run by `cmd.exe`, which reads its arguments once more: `std` quotes them so that
/// none becomes a command, and refuses those of which that cannot be said.
pub(crate) fn command(program: &OsStr, folder: Option<&Path>) -> io::Result<Command> {
    let found = program::find(program, folder)?;
    let mut command = Command::new(found);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command.creation_flags(window());
    Ok(command)
}

/// No window of its own where we have none, as under a client with windows; our console otherwise.
pub(super) fn window() -> u32 {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let console = OpenOptions::new().write(true).open("CONOUT$");
    if console.is_ok() { 0 } else { CREATE_NO_WINDOW }
}

/// How a process ended.
#[must_use]
pub fn exit_of(status: ExitStatus) -> Exit {
    // Every process has one here.
    Exit::Code(status.code().unwrap_or(1))
}

/// Ends a process that has left its group. None can: it is in its job.
pub fn kill(_pid: u32) {}

/// A child that can be ended while it is waited for.
#[derive(Clone, Debug)]
pub(crate) struct LiveChild(Arc<Mutex<bool>>);

/// How often it is looked whether a child has ended, or is to.
const LOOK: Duration = Duration::from_millis(20);

impl LiveChild {
    pub(crate) fn of(_: &Child) -> Self {
        Self(Arc::default())
    }

    /// Ends it if that is what the signal means: it has our console, and hears of the others itself.
    pub(crate) fn signal(&self, signal: Signal) {
        if signal.ends() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        }
    }

    /// Waits for the end.
    pub(crate) fn wait(&self, mut child: Child) -> io::Result<Exit> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(exit_of(status));
            }
            if *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
                child.kill()?;
            }
            sleep(LOOK);
        }
    }
}

/// How far this thread stands behind others where processors are scarce.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rank {
    /// Behind those that are waited for.
    Behind,
    /// Behind everybody else.
    Last,
}

/// Lets others go first. It runs as the others do: nothing that we use can say it of one thread.
pub(crate) fn step_back(_rank: Rank) {}

/// How much of a processor the calling thread has taken so far.
pub(crate) fn processor_time() -> Duration {
    // In steps of 100 ns.
    let spent = |time: winsafe::FILETIME| {
        u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
    };
    HTHREAD::GetCurrentThread()
        .GetThreadTimes()
        .map_or(Duration::ZERO, |(_, _, kernel, user)| {
            Duration::from_nanos((spent(kernel) + spent(user)).saturating_mul(100))
        })
}

/// As many connections as the system allows us: it has no limit for one process.
pub(crate) fn raise_file_limit() {}

/// What the processes that we were started by have in this variable: the system does not tell.
#[must_use]
pub fn variable_above(_name: &str) -> Option<OsString> {
    None
}
