//! For programs that use the console: events that end them.

use std::env;
use std::io;

use winsafe::co::{CONSOLE, STD_HANDLE};
use winsafe::{HSTD, SysResult};

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
        let caught = || ();
        signals::each(caught, |signal: Signal| {
            told(TerminalSignal::End(signal.as_raw()))
        })
        .ok();
    }
}

/// Whether the terminal understands no escape sequences. Consoles do once they are asked, which this
/// does; `TERM` is usually not set.
#[must_use]
pub fn is_dumb() -> bool {
    let is_said = env::var_os("TERM").is_some_and(|term| term == "dumb");
    let consoles = [STD_HANDLE::OUTPUT, STD_HANDLE::ERROR];
    is_said || consoles.into_iter().any(|which| ask(which).is_err())
}

/// Asks a console to interpret escape sequences. Does nothing if it is none.
fn ask(which: STD_HANDLE) -> SysResult<()> {
    // The guard would close it.
    let Ok(handle) = HSTD::GetStdHandle(which).map(|mut guard| guard.leak()) else {
        return Ok(());
    };
    let Ok(mode) = handle.GetConsoleMode() else {
        return Ok(());
    };
    handle.SetConsoleMode(mode | CONSOLE::ENABLE_VIRTUAL_TERMINAL_PROCESSING)
}

/// Processes are not stopped on this system.
pub fn suspend() -> io::Result<()> {
    Ok(())
}
