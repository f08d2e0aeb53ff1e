//! How far a run is, on a terminal.

use std::io::{IsTerminal as _, Write as _};

/// Writes one line over and over, when standard error is a terminal.
pub(super) fn show(done: usize, total: usize) {
    if total >= MANY && is_shown() {
        // Whoever has no terminal any more has no use for it.
        write!(std::io::stderr(), "\r\u{1b}[K{done}/{total}").ok();
    }
}

/// Leaves the line empty.
pub(super) fn clear() {
    if is_shown() {
        write!(std::io::stderr(), "\r\u{1b}[K").ok();
    }
}

fn is_shown() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Shorter runs are over before anybody reads it.
const MANY: usize = 5;
