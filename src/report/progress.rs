//! How far something is: one line of stderr, written over and over, where that is a terminal.

use std::fs::File;
use std::io::{IsTerminal as _, Seek as _, Write as _};
use std::time::Duration;

use tapewright_proxy::clock::Clock;

use super::figures::size;
use super::safe;

/// How long something has taken before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two lines.
const EVERY: Duration = Duration::from_millis(100);
/// How wide the bar is, in characters.
const WIDTH: u64 = 24;
/// How long a line is at most, in characters, so that it stays one.
const COLUMNS: usize = 79;

/// The progress of something that may take more than a second; gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    line: Line,
    clock: Clock,
    is_shown: bool,
}

impl Progress {
    /// Of so many things.
    pub(crate) fn count(total: usize) -> Self {
        Self::new(total as u64, |count| count.to_string())
    }

    /// Of so many bytes.
    pub(crate) fn bytes(total: u64) -> Self {
        Self::new(total, size)
    }

    fn new(total: u64, unit: fn(u64) -> String) -> Self {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            line: Line::new(total, unit),
            clock: Clock::start(),
            is_shown: std::io::stderr().is_terminal() && !is_dumb,
        }
    }

    /// One more is done, or begun, and this is what it is called.
    pub(crate) fn step(&mut self, name: &str) {
        self.at(self.line.done + 1, name);
    }

    /// So much is done.
    pub(crate) fn at(&mut self, done: u64, name: &str) {
        self.line.done = done;
        if !self.is_shown {
            return;
        }
        if let Some(line) = self.line.due(self.clock.elapsed(), name) {
            write(&line);
        }
    }

    /// It turns out to be so many.
    pub(crate) fn of(&mut self, total: usize) {
        self.line.total = total as u64;
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.line.was_drawn {
            write("");
        }
    }
}

/// Writes over the line. Whoever has no terminal any more has no use for it.
fn write(line: &str) {
    write!(std::io::stderr(), "\r\u{1b}[K{line}").ok();
}

/// How much of a file has been read, told by its handle: a copy of it shares its position.
#[derive(Debug)]
pub(crate) struct Reading {
    progress: Progress,
    file: File,
    name: String,
    calls: u64,
}

/// How often [`Reading::step`] is called before it looks.
const CALLS: u64 = 1024;

impl Reading {
    /// Of this file; `None` where it cannot be told, or nobody would see it.
    pub(crate) fn of(file: &File, name: &str) -> Option<Self> {
        let total = file.metadata().ok()?.len();
        let progress = Progress::bytes(total);
        progress.is_shown.then_some(())?;
        Some(Self {
            progress,
            file: file.try_clone().ok()?,
            name: name.to_owned(),
            calls: 0,
        })
    }

    /// Something was read.
    pub(crate) fn step(&mut self) {
        self.calls += 1;
        if self.calls.is_multiple_of(CALLS)
            && let Ok(done) = self.file.stream_position()
        {
            self.progress.at(done, &self.name);
        }
    }
}

/// The line, without a terminal and without a clock.
#[derive(Debug)]
struct Line {
    total: u64,
    done: u64,
    unit: fn(u64) -> String,
    next: Duration,
    was_drawn: bool,
}

impl Line {
    fn new(total: u64, unit: fn(u64) -> String) -> Self {
        Self {
            total,
            done: 0,
            unit,
            next: PATIENCE,
            was_drawn: false,
        }
    }

    /// What to write now, if anything: nothing in the first second, and not all the time.
    fn due(&mut self, elapsed: Duration, name: &str) -> Option<String> {
        if elapsed < self.next {
            return None;
        }
        self.next = elapsed + EVERY;
        self.was_drawn = true;
        Some(self.text(name))
    }

    fn text(&self, name: &str) -> String {
        let filled = (WIDTH.saturating_mul(self.done))
            .checked_div(self.total)
            .unwrap_or(WIDTH)
            .min(WIDTH);
        let bar: String = (0..WIDTH)
            .map(|at| if at < filled { '=' } else { ' ' })
            .collect();
        let unit = self.unit;
        let line = format!(
            "[{bar}] {}/{} {}",
            unit(self.done),
            unit(self.total),
            safe(name)
        );
        line.trim_end().chars().take(COLUMNS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(total: u64) -> Line {
        Line::new(total, |count| count.to_string())
    }

    #[test]
    fn the_bar_fills() {
        let bar = |done, total| {
            let mut line = count(total);
            line.done = done;
            line.text("")
        };
        assert_eq!(bar(0, 4), format!("[{}] 0/4", " ".repeat(24)));
        assert_eq!(bar(2, 4).matches('=').count(), 12);
        assert_eq!(bar(4, 4), format!("[{}] 4/4", "=".repeat(24)));
        assert_eq!(bar(0, 0).matches('=').count(), 24);
        assert_eq!(bar(u64::MAX, 1).matches('=').count(), 24);
    }

    #[test]
    fn what_takes_less_than_a_second_shows_nothing() {
        let mut line = count(9);
        assert_eq!(line.due(Duration::from_millis(999), "a"), None);
        assert!(!line.was_drawn);
        assert!(line.due(Duration::from_secs(1), "a").is_some());
        assert_eq!(line.due(Duration::from_millis(1_099), "a"), None);
        assert!(line.due(Duration::from_millis(1_100), "a").is_some());
    }

    #[test]
    fn a_name_moves_no_cursor_and_makes_no_second_line() {
        let mut line = Line::new(3 << 20, size);
        line.done = 1 << 20;
        let text = line.text(&format!("a\u{1b}[2J\n{}", "b".repeat(200)));
        assert_eq!(text.chars().count(), COLUMNS);
        assert!(!text.contains(['\u{1b}', '\n']), "{text:?}");
    }
}
