//! A program that is started beside a gateway: an agent whose models are behind it.
//!
//! It is started as it would be alone and stays in our process group, because it may read from
//! the terminal. So what a terminal sends to the group reaches it without us, and it is not
//! ended with us: its user started it, and sees it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tapewright_schemas::event::Exit;

use crate::stdio::signals;

/// A program and what it is started with.
pub struct Agent {
    /// The program, which is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// On top of our environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether it has the terminal that we have, which sends interruptions to both.
    pub shares_terminal: bool,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Arguments and variables may hold secrets.
        out.debug_struct("Agent")
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

/// The number of an agent for as long as it can be signalled: a number that was given back
/// may be that of another process.
type LivePid = Arc<Mutex<Option<Pid>>>;

/// Signals that came for the agent, caught from before it is started.
pub(crate) struct Signals(Receiver<i32>);

impl Signals {
    /// Catches them from now on.
    pub(crate) fn catch() -> io::Result<Self> {
        let (notify, arrived) = sync_channel(16);
        signals::forward(notify, |signal| signal)?;
        Ok(Self(arrived))
    }
}

impl Agent {
    /// Starts it; `ended` is told how it ended, from a thread of its own.
    pub(crate) fn start(
        self,
        signals: Signals,
        ended: impl FnOnce(Option<Exit>) + Send + 'static,
    ) -> io::Result<()> {
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .envs(self.variables)
            .spawn()?;
        let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let alive: LivePid = Arc::new(Mutex::new(number));
        let for_signals = Arc::clone(&alive);
        let shares_terminal = self.shares_terminal;
        thread::Builder::new()
            .name("agent-signals".to_owned())
            .spawn(move || {
                for signal in &signals.0 {
                    pass_on(signal, &for_signals, shares_terminal);
                }
            })?;
        thread::Builder::new()
            .name("agent".to_owned())
            .spawn(move || ended(wait(child, &alive)))?;
        Ok(())
    }
}

fn pass_on(signal: i32, alive: &LivePid, shares_terminal: bool) {
    let signal = Signal::from_named_raw(signal);
    // Ctrl-C is meant for the agent, once.
    let has_it = shares_terminal && matches!(signal, Some(Signal::INT | Signal::QUIT));
    let Some(signal) = signal.filter(|_| !has_it) else {
        return;
    };
    if let Some(number) = *lock(alive) {
        // It may have ended a moment ago.
        kill_process(number, signal).ok();
    }
}

/// Waits for the end; the number is given back only once no thread can signal it any more.
fn wait(mut child: Child, alive: &LivePid) -> Option<Exit> {
    let number = *lock(alive);
    if let Some(number) = number {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(number), options), Err(Errno::INTR)) {}
    }
    *lock(alive) = None;
    let status = child.wait().ok()?;
    Some(match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    })
}

fn lock(alive: &LivePid) -> MutexGuard<'_, Option<Pid>> {
    alive.lock().unwrap_or_else(PoisonError::into_inner)
}
