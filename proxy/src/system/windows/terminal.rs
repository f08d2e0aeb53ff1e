//! Whoever holds the console: what ends it.

use std::io;

use super::process::Signal;
use super::signals;

/// What is asked of whoever holds the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalSignal {
    /// To end, by this signal.
    End(i32),
    /// To stand still until the shell lets it go on: no shell here asks for it.
    Suspend,
}

/// Heard once somebody asks for each.
#[derive(Debug)]
pub struct TerminalSignals(());

impl TerminalSignals {
    /// Nothing is to be done before they are asked for.
    pub fn catch() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// Tells each one as it comes, until `told` says false. Blocks.
    pub fn each(self, mut told: impl FnMut(TerminalSignal) -> bool) {
        // Without a console there is nothing to be heard.
        signals::each(|signal: Signal| told(TerminalSignal::End(signal.as_raw()))).ok();
    }
}

/// Nothing stands still here.
pub fn suspend() -> io::Result<()> {
    Ok(())
}
