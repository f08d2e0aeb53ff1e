//! Whoever holds the terminal: signals that end it or make it stand still.

use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// What is asked of whoever holds the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalSignal {
    /// To end, by this signal.
    End(i32),
    /// To stand still until the shell lets it go on.
    Suspend,
}

/// Caught from when it is made.
#[derive(Debug)]
pub struct TerminalSignals(Signals);

impl TerminalSignals {
    /// Catches them from now on.
    pub fn catch() -> io::Result<Self> {
        Ok(Self(Signals::new([SIGHUP, SIGINT, SIGTERM, SIGTSTP])?))
    }

    /// Tells each one as it comes, until `told` says false. Blocks.
    pub fn each(mut self, mut told: impl FnMut(TerminalSignal) -> bool) {
        for signal in self.0.forever() {
            let signal = match signal {
                SIGTSTP => TerminalSignal::Suspend,
                other => TerminalSignal::End(other),
            };
            if !told(signal) {
                return;
            }
        }
    }
}

/// Stands still until the shell lets us go on.
pub fn suspend() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}
