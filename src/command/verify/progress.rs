//! How far it is, on a terminal.

use std::io::{IsTerminal as _, Write as _};

use tapewright_replay::verify::Check;

use crate::report::safe;

/// How wide the bar is, in characters.
const WIDTH: usize = 24;

/// How much of what is asked for is named.
const NAMED: usize = 40;

/// A line on standard error that is written over and over, when that is a terminal.
pub(super) struct Progress {
    total: usize,
    done: usize,
    shown: bool,
}

impl Progress {
    pub(super) fn new(total: usize) -> Self {
        let shown = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self {
            total,
            done: 0,
            shown,
        }
    }

    /// One more is done.
    pub(super) fn step(&mut self, check: &Check) {
        self.done += 1;
        if !self.shown {
            return;
        }
        let line = bar(self.done, self.total);
        let name = match &check.target {
            Some(target) => format!("{} {target}", check.method),
            None => check.method.clone(),
        };
        let name: String = safe(&name).chars().take(NAMED).collect();
        // Whoever has no terminal any more has no use for it.
        write!(std::io::stderr(), "\r\u{1b}[K{line} {name}").ok();
    }

    /// Leaves the line empty.
    pub(super) fn clear(&self) {
        if self.shown && self.done > 0 {
            write!(std::io::stderr(), "\r\u{1b}[K").ok();
        }
    }
}

fn bar(done: usize, total: usize) -> String {
    let filled = (WIDTH * done)
        .checked_div(total)
        .unwrap_or(WIDTH)
        .min(WIDTH);
    format!(
        "[{}{}] {done}/{total}",
        "=".repeat(filled),
        " ".repeat(WIDTH - filled)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar(0, 4), format!("[{}] 0/4", " ".repeat(WIDTH)));
        assert_eq!(bar(2, 4).matches('=').count(), WIDTH / 2);
        assert_eq!(bar(4, 4), format!("[{}] 4/4", "=".repeat(WIDTH)));
        assert_eq!(bar(0, 0).matches('=').count(), WIDTH);
    }
}
