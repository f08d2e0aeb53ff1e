//! For programs that use the terminal: signals that end or suspend them.

use std::env;
use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::system::TerminalSignal;

/// Caught from its creation.
#[derive(Debug)]
pub struct TerminalSignals(Signals);

impl TerminalSignals {
    /// Starts to catch them.
    pub fn catch() -> io::Result<Self> {
        Ok(Self(Signals::new([SIGHUP, SIGINT, SIGTERM, SIGTSTP])?))
    }

    /// Calls `told` with each one, until it returns false. Blocks.
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

/// Whether the terminal understands no escape sequences.
#[must_use]
pub fn is_dumb() -> bool {
    let term = env::var_os("TERM").filter(|term| !term.is_empty());
    term.is_none_or(|term| term == "dumb")
}

/// Stops until the shell continues this process.
pub fn suspend() -> io::Result<()> {
    emulate_default_handler(SIGTSTP)
}
