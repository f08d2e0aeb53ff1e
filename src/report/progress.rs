//! Progress on one line of stderr, which is overwritten, if it is a terminal.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Seek as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tapewright_proxy::clock::Clock;
use tapewright_proxy::system::terminal::is_dumb;

use super::figures::size;
use super::safe;

/// How long an operation must take before progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two updates.
const EVERY: Duration = Duration::from_millis(100);
/// The width of the bar, in characters.
const WIDTH: u64 = 24;
/// The longest line, in characters, so that it does not wrap.
const COLUMNS: usize = 79;

/// The progress of something that may take more than a second; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    line: Line,
    clock: Clock,
    is_shown: bool,
}

impl Progress {
    /// Counts things.
    pub(crate) fn count(total: usize) -> Self {
        Self::new(total as u64, |count| count.to_string())
    }

    /// Counts bytes.
    pub(crate) fn bytes(total: u64) -> Self {
        Self::new(total, size)
    }

    fn new(total: u64, unit: fn(u64) -> String) -> Self {
        Self {
            line: Line::new(total, unit),
            clock: Clock::start(),
            is_shown: is_shown(),
        }
    }

    /// Counts one more, which is done or has begun, with this name.
    pub(crate) fn step(&mut self, name: &str) {
        self.at(self.line.done + 1, name);
    }

    /// Sets how much is done.
    pub(crate) fn at(&mut self, done: u64, name: &str) {
        self.line.done = done;
        if !self.is_shown {
            return;
        }
        if let Some(line) = self.line.due(self.clock.elapsed(), name) {
            write(&line);
        }
    }

    /// Corrects the total.
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

/// Overwrites the line. It does not matter if the terminal is gone.
fn write(line: &str) {
    write!(io::stderr(), "\r\u{1b}[K{line}").ok();
}

/// How much of some files has been read, by their handles: a copy of a handle shares its position.
#[derive(Debug)]
pub(crate) struct Reading {
    progress: Progress,
    files: Vec<File>,
    name: String,
    calls: u64,
}

/// How many calls of [`Reading::step`] there are between two updates.
const CALLS: u64 = 1024;

impl Reading {
    /// For one file; `None` if its length is unknown, or without a terminal.
    pub(crate) fn of(file: &File, name: &str) -> Option<Self> {
        Self::of_all(vec![file.try_clone().ok()?], name)
    }

    /// Like `of`, for several files that are read in parallel.
    pub(crate) fn of_all(files: Vec<File>, name: &str) -> Option<Self> {
        let lengths = files.iter().map(|file| Some(file.metadata().ok()?.len()));
        let progress = Progress::bytes(lengths.sum::<Option<u64>>()?);
        progress.is_shown.then_some(())?;
        Some(Self {
            progress,
            files,
            name: name.to_owned(),
            calls: 0,
        })
    }

    /// Called after each read.
    pub(crate) fn step(&mut self) {
        self.calls += 1;
        if !self.calls.is_multiple_of(CALLS) {
            return;
        }
        let done = self
            .files
            .iter_mut()
            .map(|file| file.stream_position().ok());
        if let Some(done) = done.sum::<Option<u64>>() {
            self.progress.at(done, &self.name);
        }
    }
}

/// The elapsed time of something whose length is unknown; removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Elapsed {
    over: Arc<Over>,
    drawing: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Over {
    is_over: Mutex<bool>,
    wake: Condvar,
}

impl Elapsed {
    /// With this name: `comparing a.json with b.json`.
    pub(crate) fn of(name: &str) -> Self {
        let over = Arc::new(Over::default());
        let (shared, name) = (Arc::clone(&over), safe(name));
        let draw = move || shared.draw(&name);
        let drawing = is_shown().then(|| thread::Builder::new().name("progress".to_owned()));
        // Without a thread only the progress line is missing.
        let drawing = drawing.and_then(|thread| thread.spawn(draw).ok());
        Self { over, drawing }
    }
}

impl Over {
    fn draw(&self, name: &str) {
        let clock = Clock::start();
        let mut next = PATIENCE;
        let mut was_drawn = false;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let elapsed = clock.elapsed();
            if elapsed >= next {
                let line = format!("{name}: {} s", elapsed.as_secs());
                write(&line.chars().take(COLUMNS).collect::<String>());
                was_drawn = true;
                next = elapsed + PATIENCE;
            }
            let left = next.saturating_sub(elapsed);
            let waited = self.wake.wait_timeout(is_over, left);
            (is_over, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if was_drawn {
            write("");
        }
    }
}

impl Drop for Elapsed {
    fn drop(&mut self) {
        *self
            .over
            .is_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.over.wake.notify_all();
        if let Some(drawing) = self.drawing.take() {
            drawing.join().ok();
        }
    }
}

/// Whether there is a terminal on which a line can be overwritten.
fn is_shown() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// A reader that counts bytes.
pub(crate) struct Counted<'c, R> {
    inner: R,
    work: &'c RefCell<Work>,
}

/// Bytes that are read in several passes.
pub(crate) struct Work {
    progress: Progress,
    name: String,
    done: u64,
}

impl Work {
    /// For a file with this name, with this many bytes in all passes.
    pub(crate) fn new(total: u64, name: String) -> Self {
        let progress = Progress::bytes(total);
        Self {
            progress,
            name,
            done: 0,
        }
    }

    /// Counts more bytes.
    pub(crate) fn read(&mut self, bytes: usize) {
        self.done += bytes as u64;
        self.progress.at(self.done, &self.name);
    }
}

impl<'c, R> Counted<'c, R> {
    pub(crate) fn new(inner: R, work: &'c RefCell<Work>) -> Self {
        Self { inner, work }
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.work.borrow_mut().read(count);
        Ok(count)
    }
}

/// The text of the line, independent of terminal and clock.
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

    /// The text to write now, if any: nothing in the first second, and later not too often.
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
