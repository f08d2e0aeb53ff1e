//! A program that is started beside a gateway: an agent whose models are behind it.
//!
//! It is started as it would be alone and stays in our process group, because it may read from
//! the terminal. So what a terminal sends to the group reaches it without us, and it is not
//! ended with us: its user started it, and sees it.

use std::ffi::OsString;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use tapewright_schemas::event::Exit;

use crate::system::process::{self, LiveChild};
use crate::system::{Signal, signals};

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
        let child = process::command(&self.program, None)?
            .args(&self.arguments)
            .envs(self.variables)
            .spawn()?;
        let alive = LiveChild::of(&child);
        let for_signals = alive.clone();
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
            .spawn(move || ended(alive.wait(child).ok()))?;
        Ok(())
    }
}

fn pass_on(signal: i32, alive: &LiveChild, shares_terminal: bool) {
    let signal = Signal::from_named_raw(signal);
    // Ctrl-C is meant for the agent, once.
    let has_it = shares_terminal && matches!(signal, Some(Signal::INT | Signal::QUIT));
    if let Some(signal) = signal.filter(|_| !has_it) {
        alive.signal(signal);
    }
}
