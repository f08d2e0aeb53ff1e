//! How far a run is, on a terminal.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

/// Writes one line over and over, when standard error is a terminal: how many tests are
/// done, and which took longest.
pub(super) fn show(done: usize, total: usize, slowest: &str, took: Duration) {
    if total >= MANY && is_shown() {
        let line = line(done, total, slowest, took);
        // Whoever has no terminal any more has no use for it.
        write!(std::io::stderr(), "\r\u{1b}[K{line}").ok();
    }
}

/// Leaves the line empty.
pub(super) fn clear() {
    if is_shown() {
        write!(std::io::stderr(), "\r\u{1b}[K").ok();
    }
}

fn is_shown() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stderr().is_terminal() && !is_dumb
}

fn line(done: usize, total: usize, slowest: &str, took: Duration) -> String {
    if slowest.is_empty() {
        return format!("{done}/{total}");
    }
    let name: String = crate::report::safe(slowest)
        .chars()
        .take(NAME_CHARS)
        .collect();
    format!("{done}/{total}  slowest: {name} ({} ms)", took.as_millis())
}

/// Shorter runs are over before anybody reads it.
const MANY: usize = 5;
/// How much of a name is shown, so that the line stays one.
const NAME_CHARS: usize = 40;

#[cfg(test)]
mod tests {
    use super::{Duration, line};

    #[test]
    fn the_slowest_test_is_named() {
        assert_eq!(line(0, 9, "", Duration::ZERO), "0/9");
        let took = Duration::from_millis(1_204);
        assert_eq!(
            line(3, 9, "a\u{1b}b", took),
            "3/9  slowest: a\\u{1b}b (1204 ms)"
        );
    }
}
