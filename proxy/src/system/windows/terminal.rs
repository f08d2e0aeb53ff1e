//! For programs that use the console: events that end them.

use std::io;

use super::process::Signal;
use super::signals;
use crate::system::TerminalSignal;

/// Caught when `each` is called.
#[derive(Debug)]
pub struct TerminalSignals(());

impl TerminalSignals {
    /// Does nothing before `each` is called.
    pub fn catch() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Calls `told` with each one, until it returns false. Blocks.
    pub fn each(self, mut told: impl FnMut(TerminalSignal) -> bool) {
        // Without a console there are no events.
        signals::each(|signal: Signal| told(TerminalSignal::End(signal.as_raw()))).ok();
    }
}

/// Processes are not stopped on this system.
pub fn suspend() -> io::Result<()> {
    Ok(())
}
