//! What waits to be taken from a server: bounded, and waited for with a deadline.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tapewright_schemas::event::Exit;
use tapewright_schemas::redact::Rules;

use super::reply::Passed;
use super::tail::Tail;
use crate::clock::Clock;

/// How much may wait before the server is no longer read, in bytes. A single line may be
/// larger when nothing else waits.
const CAPACITY: usize = 4 << 20;

/// How often a waiting thread checks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// What the threads of a link tell the client.
#[derive(Clone, Debug)]
pub(super) struct Inbox {
    shared: Arc<Shared>,
    pub(super) limit_bytes: usize,
    // Waiting was called off.
    stop: Option<Arc<AtomicBool>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Passed>,
    bytes: usize,
    // How many lines the server has taken.
    written: u64,
    // It takes no more.
    deaf: bool,
    // It says no more.
    end: Option<OutputEnd>,
    exit: Option<Exit>,
    log: Tail,
    log_ended: bool,
    // The receiver is gone: lines are dropped.
    closed: bool,
}

/// Why the output of a server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputEnd {
    Closed,
    TooLong,
}

/// What a wait has brought.
#[derive(Debug)]
pub(super) enum Taken {
    /// No more will come; or, while writing was awaited, the server takes no more.
    End,
    Line(Passed),
    TimedOut,
    TooLong,
    /// The awaited line was written.
    Written,
}

impl Inbox {
    pub(super) fn new(limit_bytes: usize, stop: Option<Arc<AtomicBool>>) -> Self {
        Self {
            shared: Arc::default(),
            limit_bytes,
            stop,
        }
    }

    /// The next thing that happens; with `awaited`, that so many lines were written counts
    /// too.
    pub(super) fn next(&self, awaited: Option<u64>, until: Duration, clock: Clock) -> Taken {
        let mut state = self.lock();
        loop {
            if awaited.is_some_and(|count| state.written >= count) {
                return Taken::Written;
            }
            if awaited.is_some() && state.deaf {
                return Taken::End;
            }
            if let Some(passed) = state.lines.pop_front() {
                state.bytes = state.bytes.saturating_sub(passed.message.len());
                drop(state);
                self.shared.changed.notify_all();
                return Taken::Line(passed);
            }
            match state.end {
                Some(OutputEnd::TooLong) => return Taken::TooLong,
                Some(OutputEnd::Closed) if awaited.is_none() => return Taken::End,
                // What was written before may still leave; the writer will say.
                Some(OutputEnd::Closed) | None => {}
            }
            let now = clock.elapsed();
            let mut left = until.saturating_sub(now);
            if let Some(stop) = &self.stop {
                if stop.load(Ordering::Relaxed) {
                    return Taken::TimedOut;
                }
                left = left.min(LOOK);
            }
            if left.is_zero() {
                return Taken::TimedOut;
            }
            state = self.wait(state, left);
        }
    }

    /// Adds a line; waits for room. False if the receiver is gone.
    pub(super) fn push(&self, passed: Passed) -> bool {
        let mut state = self.lock();
        let full = |state: &State| {
            !state.lines.is_empty() && state.bytes + passed.message.len() > CAPACITY
        };
        while full(&state) && !state.closed {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        state.bytes += passed.message.len();
        state.lines.push_back(passed);
        drop(state);
        self.shared.changed.notify_all();
        true
    }

    /// A line was written, or could not be.
    pub(super) fn written(&self, well: bool) {
        self.change(|state| {
            if well {
                state.written += 1;
            } else {
                state.deaf = true;
            }
        });
    }

    /// The output has ended.
    pub(super) fn end(&self, why: OutputEnd) {
        self.change(|state| state.end = Some(why));
    }

    /// The server has ended.
    pub(super) fn exited(&self, exit: Exit) {
        self.change(|state| state.exit = Some(exit));
    }

    pub(super) fn logged(&self, chunk: &[u8]) {
        self.lock().log.push(chunk);
    }

    pub(super) fn log_ended(&self) {
        self.change(|state| state.log_ended = true);
    }

    /// The receiver is gone.
    pub(super) fn close(&self) {
        self.change(|state| {
            state.closed = true;
            state.lines.clear();
            state.bytes = 0;
        });
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// The receiver is gone, and the server has ended: if its output is still open,
    /// another process holds it.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.closed && state.exit.is_some()
    }

    /// How the server ended; waits no longer than `time` for that and its last words.
    pub(super) fn exit(&self, time: Duration) -> Option<Exit> {
        let waits = |state: &mut State| state.exit.is_none() || !state.log_ended;
        let waited = self
            .shared
            .changed
            .wait_timeout_while(self.lock(), time, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.exit
    }

    /// The last words, redacted.
    pub(super) fn log(&self, rules: &Arc<Rules>) -> String {
        self.lock().log.show(rules)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each step leaves the state whole.
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, time: Duration) -> MutexGuard<'s, State> {
        self.shared
            .changed
            .wait_timeout(state, time)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }
}
