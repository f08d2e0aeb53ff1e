//! The bounded queue of lines, and who empties it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::Level;

use super::line::Writer;
use super::writer::Destination;

/// How many lines may wait; with the longest line they are 8 MiB. What is more than chatter has
/// some room of its own: a burst of exchanges must not push out that something was lost.
const MOST: usize = 2_048;
const RESERVE: usize = 256;
/// How long the end waits for a destination that takes lines, and how long for one more line.
const LONGEST_END: Duration = Duration::from_secs(2);
const LOOKS: u32 = 20;

/// Lines that wait to be written.
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
    lost: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Box<[u8]>>,
    // Where to write, until it is taken.
    kept: Option<(Destination, Writer)>,
    // Taken and not written yet.
    under_way: u64,
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

    /// Adds a line, or counts it as lost where too many wait. Never waits for who writes.
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

    /// Keeps where to write until [`flow`](Self::flow) is called.
    pub(super) fn keep(&self, destination: Destination, writer: Writer) {
        self.lock().kept = Some((destination, writer));
    }

    /// Starts the thread that writes, if it does not run.
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

    /// Waits until everything is written, as long as the reader keeps up. What is left then is
    /// counted as lost. Returns whether a note must report that: on standard error a line already
    /// has, or there is no reader.
    pub(super) fn close(self: &Arc<Self>) -> bool {
        self.flow();
        let mut state = self.lock();
        state.closed = true;
        self.filled.notify_one();
        let mut looks = 0;
        while !state.done && looks < LOOKS {
            looks += 1;
            // The other end has no reader: waiting would be in vain.
            if looks > 1 && state.stuck.as_ref().is_some_and(Destination::is_full) {
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
            // Where it is missing, so that the last line is about the end.
            let lost = self.lost.load(Ordering::Relaxed);
            if lost > told && destination.write(&writer.lost(lost - told)) {
                told = lost;
            }
            if !destination.write(&line) {
                self.lose(1);
            }
        }
    }

    /// The next line; nothing once all are written.
    fn next(&self) -> Option<Box<[u8]>> {
        let mut state = self.lock();
        state.under_way = 0;
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.under_way = 1;
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
