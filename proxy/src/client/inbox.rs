//! A bounded queue of messages from a server, with waits that have a deadline.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tapewright_schemas::event::Exit;
use tapewright_schemas::redact::Rules;

use super::reply::Passed;
use super::tail::Tail;
use crate::clock::Clock;

/// The number of queued bytes above which reading from the server pauses. A single line may be
/// larger when the queue is empty.
const CAPACITY: usize = 4 << 20;

/// How often a waiting thread checks whether it should stop.
const LOOK: Duration = Duration::from_millis(100);

/// What the threads of a link report to the client.
#[derive(Clone, Debug)]
pub(super) struct Inbox {
    shared: Arc<Shared>,
    pub(super) limit_bytes: usize,
    // Set to stop all waits.
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
    // The number of lines that the server has accepted.
    written: u64,
    // It accepts no more lines.
    deaf: bool,
    // Its output has ended.
    end: Option<OutputEnd>,
    exit: Option<Exit>,
    log: Tail,
    log_ended: bool,
    // The receiver is gone: lines are dropped.
    closed: bool,
}

/// Why the output of a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputEnd {
    Closed,
    TooLong,
}

/// The result of a wait.
#[derive(Debug)]
pub(super) enum Taken {
    /// There are no more messages; or, during a wait for a write, the server accepts no more input.
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

    /// The next event; with `awaited`, also that this many lines were written.
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
                // Pending writes may still succeed; the writer reports the result.
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

    /// Adds a line; waits for space. Returns false if the receiver is gone.
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

    /// Notes that a line was written, or could not be.
    pub(super) fn written(&self, well: bool) {
        self.change(|state| {
            if well {
                state.written += 1;
            } else {
                state.deaf = true;
            }
        });
    }

    /// Notes that the output has ended.
    pub(super) fn end(&self, why: OutputEnd) {
        self.change(|state| state.end = Some(why));
    }

    /// Notes that the server has exited.
    pub(super) fn exited(&self, exit: Exit) {
        self.change(|state| state.exit = Some(exit));
    }

    pub(super) fn logged(&self, chunk: &[u8]) {
        self.lock().log.push(chunk);
    }

    pub(super) fn log_ended(&self) {
        self.change(|state| state.log_ended = true);
    }

    /// Notes that the receiver is gone.
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

    /// Whether the receiver is gone and the server has exited: if its output is still open, another
    /// process holds it.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.closed && state.exit.is_some()
    }

    /// How the server exited; waits at most for `time` for that and the rest of its log.
    pub(super) fn exit(&self, time: Duration) -> Option<Exit> {
        let waits = |state: &mut State| state.exit.is_none() || !state.log_ended;
        let waited = self
            .shared
            .changed
            .wait_timeout_while(self.lock(), time, waits);
        waited.unwrap_or_else(PoisonError::into_inner).0.exit
    }

    /// The end of the log, redacted.
    pub(super) fn log(&self, rules: &Arc<Rules>) -> String {
        self.lock().log.show(rules)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.shared.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each step leaves the state consistent.
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
