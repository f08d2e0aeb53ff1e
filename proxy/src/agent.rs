//! Starts a program next to a gateway: an agent whose models are behind it.
//!
//! It is started as it would be alone and stays in tapewright's process group, because it may read
//! from the terminal. So signals from the terminal reach it directly, and it is not ended together
//! with tapewright: its user started it and can see it.

use std::ffi::OsString;
use std::io;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use tapewright_schemas::event::Exit;

use crate::system::process::{self, LiveChild};
use crate::system::{Signal, signals};

/// A program, and how to start it.
pub struct Agent {
    /// The program, which is searched in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables in addition to tapewright's environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Whether it shares tapewright's terminal, which sends interrupts to both.
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

/// Signals for the agent, caught from before it is started.
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
    /// Starts the agent; `ended` is called with its exit, on another thread.
    pub(crate) fn start(
        self,
        signals: Signals,
        ended: impl FnOnce(Option<Exit>) + Send + 'static,
    ) -> io::Result<()> {
        let child = process::command(&self.program, None, &self.variables)?
            .args(&self.arguments)
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
    // The agent already receives Ctrl-C from the terminal.
    let has_it = shares_terminal && matches!(signal, Some(Signal::INT | Signal::QUIT));
    if let Some(signal) = signal.filter(|_| !has_it) {
        alive.signal(signal);
    }
}
