//! The bounded queue between the pumps and the writer.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tapewright_schemas::event::{Direction, Event, EventBody, Gap, Offset, Payload};

use super::WhenFull;

/// How much may wait for the writer, in bytes of payload and bookkeeping. A single event
/// may be larger when nothing else waits.
const CAPACITY: usize = 4 << 20;

/// What an event costs beside its payload, in bytes: its own size and its share of a
/// buffer.
const OVERHEAD: usize = 192;

/// How long the writer sleeps between two looks while traffic flows. To be woken for each
/// message would cost every message a system call and the peers a processor.
const NAP: Duration = Duration::from_millis(3);

/// How long it sleeps while so much comes that events would leave the processor's cache
/// before they are written.
const SHORT_NAP: Duration = Duration::from_millis(1);

/// From how much traffic on naps are short, in bytes per microsecond.
const BUSY: u128 = 100;

/// How many naps without an event make the writer wait to be woken.
const NAPS: u32 = 8;

/// The bounded queue between the pumps and the writer.
#[derive(Debug)]
pub(crate) struct Queue {
    when_full: WhenFull,
    state: Mutex<State>,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "five facts that hold in any combination"
)]
struct State {
    events: Vec<Event>,
    bytes: usize,
    // Whether what was taken last had come quickly.
    quick: bool,
    gap: Option<Gap>,
    // How many events ended in gaps, in all.
    swallowed: u64,
    // The writer waits to be woken.
    asleep: bool,
    // The writer is at work on what it took.
    busy: bool,
    // Somebody waits for the queue to drain.
    awaited: bool,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(when_full: WhenFull) -> Self {
        Self {
            when_full,
            state: Mutex::default(),
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    /// Adds what `next` yields until it yields `None`. Does not wait: a queue that waits
    /// when full may be overfull until [`keep_pace`](Self::keep_pace).
    pub(crate) fn push(&self, mut next: impl FnMut() -> Option<Event>) {
        let Some(mut event) = next() else { return };
        let mut state = self.lock();
        loop {
            state.add(event, self.when_full);
            match next() {
                Some(next) => event = next,
                None => break,
            }
        }
        self.wake(&state);
    }

    /// Waits while the queue is overfull and the writer is there to empty it.
    pub(crate) fn keep_pace(&self) {
        if self.when_full == WhenFull::Gap {
            return;
        }
        let mut state = self.lock();
        while state.bytes > CAPACITY && !state.closed {
            state.awaited = true;
            self.filled.notify_one();
            state = self
                .drained
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`keep_pace`](Self::keep_pace) would wait.
    pub(crate) fn is_overfull(&self) -> bool {
        self.when_full == WhenFull::Wait && self.lock().bytes > CAPACITY
    }

    /// How many bytes wait.
    pub(crate) fn depth_bytes(&self) -> usize {
        self.lock().bytes
    }

    /// How many events found the queue full, in all.
    pub(crate) fn gap_events(&self) -> u64 {
        self.lock().swallowed
    }

    fn wake(&self, state: &State) {
        if state.asleep || state.bytes > CAPACITY / 2 {
            self.filled.notify_one();
        }
    }

    /// Moves what waits into `batch`, which must be empty; false when the queue is closed
    /// and empty. Returns with an empty batch now and then while nothing comes.
    pub(crate) fn take(&self, batch: &mut Vec<Event>) -> bool {
        let mut state = self.lock();
        state.busy = false;
        let mut naps = 0;
        let nap = if state.quick { SHORT_NAP } else { NAP };
        while state.events.is_empty() {
            if state.awaited {
                state.awaited = false;
                self.drained.notify_all();
            }
            if state.closed {
                if let Some(gap) = state.gap.take() {
                    let at = Offset::default();
                    batch.push(gap_event(gap, at));
                    return true;
                }
                return false;
            }
            state = if naps < NAPS {
                naps += 1;
                let nap = self.filled.wait_timeout(state, nap);
                nap.unwrap_or_else(PoisonError::into_inner).0
            } else {
                state.asleep = true;
                let mut woken = self
                    .filled
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                woken.asleep = false;
                woken
            };
        }
        std::mem::swap(&mut state.events, batch);
        let waited = nap.as_micros() * u128::from(naps);
        state.quick = state.bytes as u128 > waited * BUSY;
        state.bytes = 0;
        state.busy = true;
        if state.awaited {
            state.awaited = false;
            self.drained.notify_all();
        }
        true
    }

    /// Waits until the writer has dealt with everything that was pushed before.
    pub(crate) fn wait_until_drained(&self) {
        let mut state = self.lock();
        // One look is enough: what comes in the meantime is not asked for.
        let mut looks = 0;
        while (state.busy || !state.events.is_empty()) && !state.closed && looks < 1_000 {
            looks += 1;
            state.awaited = true;
            self.filled.notify_one();
            let wait = self.drained.wait_timeout(state, NAP);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// No more events are taken.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, event: Event, when_full: WhenFull) {
        if self.closed {
            return;
        }
        let cost = cost(&event);
        let full = self.bytes + cost > CAPACITY && !self.events.is_empty();
        if full && when_full == WhenFull::Gap {
            return self.swallow(&event);
        }
        if let Some(gap) = self.gap.take() {
            self.events.push(gap_event(gap, event.at));
        }
        self.bytes += cost;
        self.events.push(event);
    }

    fn swallow(&mut self, event: &Event) {
        let gap = self.gap.get_or_insert_with(|| Gap {
            events: 0,
            bytes: 0,
            why: "the queue was full".to_owned(),
        });
        gap.events += 1;
        self.swallowed += 1;
        gap.bytes += payload_bytes(event) as u64;
    }
}

fn gap_event(gap: Gap, at: Offset) -> Event {
    Event::new(at, Direction::ToClient, EventBody::Gap(gap))
}

fn cost(event: &Event) -> usize {
    payload_bytes(event) + OVERHEAD
}

/// How many bytes of payload an event holds.
pub(crate) fn payload_bytes(event: &Event) -> usize {
    match &event.body {
        EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } => bytes.len(),
        EventBody::Message { payload, .. } => payload.kept().len(),
        EventBody::Stderr { line, .. } => line.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
