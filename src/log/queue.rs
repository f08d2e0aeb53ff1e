//! The bounded queue of lines, and the thread that empties it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::Level;

use super::line::Writer;
use super::writer::Destination;

/// How many lines may wait; with the longest line they are 8 MiB. Events from
/// `INFO` up have some room reserved: a burst of exchanges must not push out the report of a loss.
const MOST: usize = 2_048;
const RESERVE: usize = 256;
/// How long the end waits for a destination that accepts lines, and how often it checks.
const LONGEST_END: Duration = Duration::from_secs(2);
const LOOKS: u32 = 20;
/// After this many checks in a row at which a destination was full and had accepted nothing, it has
/// no reader. One is not enough: on a busy machine a reader may be late.
const STALLED: u32 = 5;

/// The lines that wait to be written.
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
    lost: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Box<[u8]>>,
    // The destination, until the thread takes it.
    kept: Option<(Destination, Writer)>,
    // How many lines are taken and not written yet.
    under_way: u64,
    // How many lines were ever taken.
    taken: u64,
    stuck: Option<Destination>,
    closed: bool,
    done: bool,
}

impl fmt::Debug for Queue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl Queue {
    pub(super) fn new(lost: Arc<AtomicU64>) -> Self {
        Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            lost,
        }
    }

    /// Adds a line, or counts it as lost if too many wait. Never blocks.
    pub(super) fn push(&self, line: Box<[u8]>, level: Level) {
        let most = if level > Level::INFO {
            MOST - RESERVE
        } else {
            MOST
        };
        let mut state = self.lock();
        if state.lines.len() >= most || state.done {
            drop(state);
            self.lose(1);
            return;
        }
        state.lines.push_back(line);
        drop(state);
        self.filled.notify_one();
    }

    /// Keeps the destination until [`flow`](Self::flow) is called.
    pub(super) fn keep(&self, destination: Destination, writer: Writer) {
        self.lock().kept = Some((destination, writer));
    }

    /// Starts the writing thread, if it is not running.
    pub(super) fn flow(self: &Arc<Self>) {
        let mut state = self.lock();
        let Some((destination, writer)) = state.kept.take() else {
            return;
        };
        state.stuck = destination.watched();
        drop(state);
        let queue = Arc::clone(self);
        let thread = thread::Builder::new().name("log".to_owned());
        let started = thread.spawn(move || queue.run(destination, writer));
        if started.is_err() {
            let mut state = self.lock();
            state.done = true;
            let waiting = state.lines.len();
            self.lose(waiting as u64);
        }
    }

    /// Waits until everything is written, as long as the reader keeps up. The rest is counted as
    /// lost. Returns whether a note must report that: if false, a line has already done so, or
    /// there is no reader.
    pub(super) fn close(self: &Arc<Self>) -> bool {
        self.flow();
        let mut state = self.lock();
        state.closed = true;
        self.filled.notify_one();
        let mut patience = Patience::default();
        while !state.done {
            let is_full = state.stuck.as_ref().is_some_and(Destination::is_full);
            if patience.ends(is_full, state.taken) {
                break;
            }
            let wait = self.emptied.wait_timeout(state, LONGEST_END / LOOKS);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
        if !std::mem::replace(&mut state.done, true) {
            let left = state.lines.len() as u64 + state.under_way;
            state.lines.clear();
            self.lose(left);
        }
        state.stuck.is_none()
    }

    fn run(&self, mut destination: Destination, writer: Writer) {
        let mut told = 0;
        while let Some(line) = self.next() {
            // Reported first, so that the last line is about the end.
            let lost = self.lost.load(Ordering::Relaxed);
            if lost > told && destination.write(&writer.lost(lost - told)) {
                told = lost;
            }
            if !destination.write(&line) {
                self.lose(1);
            }
        }
    }

    /// The next line; `None` once all are written.
    fn next(&self) -> Option<Box<[u8]>> {
        let mut state = self.lock();
        state.under_way = 0;
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.under_way = 1;
                state.taken += 1;
                return Some(line);
            }
            if state.closed {
                state.done = true;
                self.emptied.notify_all();
                return None;
            }
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lose(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How much longer the end waits.
#[derive(Debug, Default)]
struct Patience {
    looks: u32,
    // How many lines had been taken at the last check, and the number of checks without progress.
    taken: u64,
    still: u32,
}

impl Patience {
    /// Checks again, and returns whether waiting any longer is pointless.
    fn ends(&mut self, is_full: bool, taken: u64) -> bool {
        let is_still = is_full && self.looks > 0 && taken == self.taken;
        self.still = if is_still { self.still + 1 } else { 0 };
        self.taken = taken;
        self.looks += 1;
        self.looks > LOOKS || self.still == STALLED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of checks before it stops waiting.
    fn waits(mut at: impl FnMut(u32) -> (bool, u64)) -> u32 {
        let mut patience = Patience::default();
        let looks = (0..).take_while(|look| {
            let (is_full, taken) = at(*look);
            !patience.ends(is_full, taken)
        });
        looks.map(|_| 1).sum()
    }

    #[test]
    fn a_reader_that_takes_nothing_is_given_up() {
        assert_eq!(waits(|_| (true, 7)), STALLED);
    }

    #[test]
    fn a_late_reader_is_waited_for() {
        assert_eq!(waits(|look| (true, u64::from(look / STALLED))), LOOKS);
        assert_eq!(waits(|look| (look % STALLED > 0, 7)), LOOKS);
        assert_eq!(waits(|_| (false, 7)), LOOKS);
    }
}
