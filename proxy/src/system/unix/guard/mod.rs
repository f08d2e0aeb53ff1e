//! Ensures that no process outlives tapewright: a second process watches the first.
//!
//! Clients end a session with SIGKILL, some after three seconds and without SIGTERM. A killed
//! process cannot clean up, and `PR_SET_PDEATHSIG` reaches only the direct child: under `npx` the
//! server is a grandchild. So the recorder has a guard, which leads the process group of the child,
//! holds one end of a pipe, and waits for the pipe to be closed. When it is, the recorder is gone,
//! and the guard ends the whole group.
//!
//! The guard is a fork of the process while it has only one thread, because a client waits for the
//! first byte, and loading the program takes longer than forking (`fork.rs`). Later it is the
//! program, started a second time.
//!
//! There are two advantages if the guard leads the group. The child joins it in the same call that
//! starts it, so it is never unguarded; and the group's id cannot be reused while the guard lives.
//!
//! A process that leaves the group (`setsid`) deliberately became a daemon; it would outlive the
//! session without a recorder as well, and is left alone.

mod fork;
mod watch;

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use self::fork::Forked;
pub use self::watch::run_if_asked;
use super::pipe::Pipe;
use super::process::exit_of;
use crate::system::Started;

/// The argument that turns this program into a guard.
const ARGUMENT: &str = "__guard";

/// How long the rest of a group has after its session between SIGTERM and SIGKILL.
const LEFTOVER_GRACE: Duration = Duration::from_millis(300);

/// The process group of a session's child, and its guard.
#[derive(Debug)]
pub struct Group {
    id: Pid,
    guard: Option<Guard>,
}

/// A guard. Dropping it closes the pipe, which makes the guard act.
#[derive(Debug)]
enum Guard {
    Program(Child),
    Forked(Forked),
}

impl Group {
    /// Starts a guard as a fork of this process.
    ///
    /// # Errors
    ///
    /// This process has more than one thread, or the number is unknown, or the system cannot start
    /// another process.
    pub fn fork() -> io::Result<Self> {
        let guard = Forked::start()?;
        Ok(Self {
            id: guard.pid(),
            guard: Some(Guard::Forked(guard)),
        })
    }

    /// Starts a guard, which leads a new process group.
    ///
    /// # Errors
    ///
    /// The program cannot be started a second time.
    pub fn start() -> io::Result<Self> {
        let guard = Command::new(std::env::current_exe()?)
            .arg(ARGUMENT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()?;
        Ok(Self {
            id: Pid::from_child(&guard),
            guard: Some(Guard::Program(guard)),
        })
    }

    /// Starts a child in a group; without a group, in one that the child leads, without a guard.
    ///
    /// # Errors
    ///
    /// The program cannot be started. In that case the group is gone.
    pub(crate) fn spawn(group: Option<Self>, mut command: Command) -> io::Result<Started> {
        let number = group
            .as_ref()
            .map_or(0, |group| group.id.as_raw_nonzero().get());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(number)
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let group = group.unwrap_or_else(|| Self {
            id: Pid::from_child(&child),
            guard: None,
        });
        Ok(Started {
            pid: child.id(),
            input: Pipe::to_child(stdin),
            output: Pipe::to_child(stdout),
            log: Pipe::to_child(stderr),
            ended: Box::new(move || Ok(exit_of(child.wait()?))),
            group,
        })
    }

    /// Sends a signal to every process of the group; the guard itself ignores all but SIGKILL.
    pub fn signal(&self, signal: Signal) {
        // An empty group is not an error: its processes may just have exited.
        kill_process_group(self.id, signal).ok();
    }

    /// Ends everything that the child of the session left behind, and the guard.
    pub fn finish(mut self) {
        match self.guard.take() {
            Some(Guard::Program(mut guard)) => {
                drop(guard.kill());
                drop(guard.wait());
            }
            Some(Guard::Forked(guard)) => guard.end(),
            None => {}
        }
        if test_kill_process_group(self.id).is_err() {
            return;
        }
        self.signal(Signal::TERM);
        let step = Duration::from_millis(5);
        let mut waited = Duration::ZERO;
        while waited < LEFTOVER_GRACE && test_kill_process_group(self.id).is_ok() {
            thread::sleep(step);
            waited += step;
        }
        self.signal(Signal::KILL);
    }
}
