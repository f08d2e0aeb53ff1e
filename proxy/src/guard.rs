//! Nothing outlives us: a second process that watches the first.
//!
//! Clients end a session with SIGKILL, some after three seconds and without a SIGTERM
//! before it. Nothing in a killed process can clean up, and `PR_SET_PDEATHSIG` reaches
//! only the direct child: under `npx` the server is a grandchild. So the recorder starts
//! itself a second time as a guard, which leads the process group that the child is
//! then started in, holds one end of a pipe, and waits for the pipe to close. When it
//! does, the recorder is gone, and the guard ends the whole group.
//!
//! That the guard leads the group has two merits. The child joins it in the same call
//! that starts it, so that there is no instant in which it would be unguarded; and the
//! number of the group cannot be used anew while the guard lives.
//!
//! A process that leaves the group (`setsid`) has made itself a daemon on purpose; it
//! would outlive the session without a recorder too, and is left alone.

use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rustix::process::{
    Pid, Signal, getpgrp, getpid, kill_process, kill_process_group, test_kill_process_group,
};
use signal_hook::consts::signal::{
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
};

/// The argument that turns this program into a guard.
const ARGUMENT: &str = "__guard";

/// How long the group has between SIGTERM and SIGKILL once the recorder is gone.
const LAST_WORDS: Duration = Duration::from_millis(700);

/// How long what is left of a group after its session has between SIGTERM and SIGKILL.
const LEFTOVER_GRACE: Duration = Duration::from_millis(300);

/// Signals that are meant for the group and must not stop its guard.
const IGNORED: [i32; 8] = [
    SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
];

/// The group that the child of a session lives in, and its guard.
#[derive(Debug)]
pub struct Group {
    id: Pid,
    // Dropping it closes the pipe, which is the guard's call to action.
    guard: Option<Child>,
}

impl Group {
    /// Starts a guard, which leads a new process group.
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
            guard: Some(guard),
        })
    }

    /// The group that a child leads which was started without a guard.
    #[must_use]
    pub fn led_by(child: &Child) -> Self {
        Self {
            id: Pid::from_child(child),
            guard: None,
        }
    }

    /// The number to start processes of the group with.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.id.as_raw_nonzero().get()
    }

    /// Sends a signal to every process of the group; the guard itself takes no notice of
    /// any but SIGKILL.
    pub fn signal(&self, signal: Signal) {
        // An empty group is no failure: its processes may have ended just now.
        kill_process_group(self.id, signal).ok();
    }

    /// Ends whatever the child of the session left behind, and the guard.
    pub fn finish(mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.kill());
            drop(guard.wait());
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

/// Runs the guard when this process was started as one; `None` otherwise.
///
/// Called first thing in `main`.
#[must_use]
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let asked = arguments.next().is_some_and(|first| first == ARGUMENT);
    // Only the leader of a group may act on the whole of it.
    (asked && arguments.next().is_none() && getpgrp() == getpid()).then(watch)
}

fn watch() -> ExitCode {
    let unheard = Arc::new(AtomicBool::new(false));
    for signal in IGNORED {
        // A signal that cannot be caught is one that cannot be ignored either.
        drop(signal_hook::flag::register(signal, Arc::clone(&unheard)));
    }
    let mut byte = [0];
    while matches!(io::stdin().read(&mut byte), Ok(1..)) {}
    let group = getpgrp();
    kill_process_group(group, Signal::TERM).ok();
    thread::sleep(LAST_WORDS);
    kill_process_group(group, Signal::KILL).ok();
    // Only reached when the group could not be signalled.
    kill_process(getpid(), Signal::KILL).ok();
    ExitCode::FAILURE
}
