//! Nothing outlives us: a second process that watches the first.
//!
//! Clients end a session with SIGKILL, some after three seconds and without a SIGTERM
//! before it. Nothing in a killed process can clean up, and `PR_SET_PDEATHSIG` reaches
//! only the direct child: under `npx` the server is a grandchild. So the recorder has a
//! guard, which leads the process group that the child is then started in, holds one end
//! of a pipe, and waits for the pipe to close. When it does, the recorder is gone, and the
//! guard ends the whole group.
//!
//! The guard is a fork of us while we have but one thread, because a client waits for the
//! first byte and the program takes longer to load than to copy (`fork.rs`). Later it is
//! the program, started a second time.
//!
//! That the guard leads the group has two merits. The child joins it in the same call
//! that starts it, so that there is no instant in which it would be unguarded; and the
//! number of the group cannot be reused while the guard lives.
//!
//! A process that leaves the group (`setsid`) has made itself a daemon on purpose; it
//! would outlive the session without a recorder too, and is left alone.

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

/// How long what is left of a group after its session has between SIGTERM and SIGKILL.
const LEFTOVER_GRACE: Duration = Duration::from_millis(300);

/// The group that the child of a session lives in, and its guard.
#[derive(Debug)]
pub struct Group {
    id: Pid,
    guard: Option<Guard>,
}

/// A guard. Dropping it closes the pipe, which is its call to action.
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
    /// This process has more than one thread, or it cannot be known, or the system has no
    /// room for another process.
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

    /// Starts a child in a group; where there is none, in one that the child leads, without a guard.
    ///
    /// # Errors
    ///
    /// The program cannot be started. The group is gone then.
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

    /// Sends a signal to every process of the group; the guard itself takes no notice of
    /// any but SIGKILL.
    pub fn signal(&self, signal: Signal) {
        // An empty group is no failure: its processes may have ended just now.
        kill_process_group(self.id, signal).ok();
    }

    /// Ends whatever the child of the session left behind, and the guard.
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
