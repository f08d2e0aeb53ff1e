//! Processes and threads.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use tapewright_schemas::event::Exit;
use winsafe::HTHREAD;

use super::program;
use crate::system::Rank;

/// A request to a process. Windows has no signals: these have the meaning and the numbers that the
/// rest of the program uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

impl Signal {
    /// The console was closed.
    pub const HUP: Self = Self(1);
    /// Ctrl-C.
    pub const INT: Self = Self(2);
    /// Ctrl-Break.
    pub const QUIT: Self = Self(3);
    /// End immediately.
    pub const KILL: Self = Self(9);
    /// End.
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

    /// Whether it ends a process. The others are console events, which all processes of the console
    /// get.
    pub(super) fn ends(self) -> bool {
        self == Self::KILL || self == Self::TERM
    }
}

/// A program that is searched in `PATH` as by its client, also with `PATHEXT`: `npx` is `npx.cmd`.
/// By default it runs in the current folder. It gets these variables in addition to ours; if `PATH`
/// is one of them, the program is searched there, as on other systems.
///
/// A batch file is run by `cmd.exe`, which parses its arguments again: `std` quotes them so that
/// none becomes a command, and refuses those for which that is not possible.
pub(crate) fn command<N: AsRef<OsStr>>(
    program: &OsStr,
    folder: Option<&Path>,
    variables: &[(N, N)],
) -> io::Result<Command> {
    let path = variables
        .iter()
        .rfind(|(name, _)| name.as_ref().eq_ignore_ascii_case("PATH"));
    let found = program::find(program, folder, path.map(|(_, value)| value.as_ref()))?;
    let mut command = Command::new(found);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    command.creation_flags(window());
    Ok(command)
}

/// No separate window if tapewright has none, as under a graphical client; its console otherwise.
pub(super) fn window() -> u32 {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    let console = OpenOptions::new().write(true).open("CONOUT$");
    if console.is_ok() { 0 } else { CREATE_NO_WINDOW }
}

/// How a process exited.
#[must_use]
pub(super) fn exit_of(status: ExitStatus) -> Exit {
    // Every process has one on this system.
    Exit::Code(status.code().unwrap_or(1))
}

/// The status with which this process exits. It ends at once with one of more than eight bits, such
/// as that of a server that crashed: `ExitCode` has no more.
#[must_use]
pub fn exit_code(status: i32) -> ExitCode {
    if let Ok(status) = u8::try_from(status) {
        return ExitCode::from(status);
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "the last that is done, and the only way to end with such a status"
    )]
    std::process::exit(status)
}

/// Kills a process that has left its group. None can: it is in its job.
pub fn kill(_pid: u32) {}

/// A child that can be ended while another thread waits for it.
#[derive(Clone, Debug)]
pub(crate) struct LiveChild(Arc<Mutex<bool>>);

/// The interval between checks whether a child has exited, or must be ended.
const LOOK: Duration = Duration::from_millis(20);

impl LiveChild {
    pub(crate) fn of(_: &Child) -> Self {
        Self(Arc::default())
    }

    /// Ends it if that is the meaning of the signal: it shares the console, and gets its events
    /// itself.
    pub(crate) fn signal(&self, signal: Signal) {
        if signal.ends() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        }
    }

    /// Waits for its exit.
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

/// Lowers the priority of this thread. Has no effect: the libraries in use do not support it for
/// one thread.
pub(crate) fn step_back(_rank: Rank) {}

/// The processor time of the calling thread so far.
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

/// Raises the limit of connections: this system has none per process.
pub(crate) fn raise_file_limit() {}

/// The value of a variable in an ancestor process: not available on this system.
#[must_use]
pub fn variable_above(_name: &str) -> Option<OsString> {
    None
}
