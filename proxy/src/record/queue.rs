//! The bounded queue between the pumps and the writer.

mod cost;
mod spent;
mod watchdog;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use tapewright_schemas::event::{Direction, Event, EventBody, Gap, GapReason, Offset, SessionKey};
use tracing::info;

use self::cost::cost;
use self::spent::Spent;
use super::WhenFull;
use super::stats::Amount;

pub(crate) use self::cost::payload_bytes;
pub(crate) use self::watchdog::{Disk, watch};

/// The capacity in bytes of payload and bookkeeping, in addition to one message of any size: long
/// messages are as valuable as short ones.
const CAPACITY: usize = 4 << 20;

/// The capacity for a judge or listener.
const CAPACITY_ASIDE: usize = 64 << 20;

/// How long the writer sleeps between two checks while traffic flows. Waking it for each message
/// would cost every message a system call and the peers a processor.
const NAP: Duration = Duration::from_millis(3);

/// How long it sleeps under so much traffic that events would leave the processor's cache before
/// they are written, and that writing them at once would make others wait.
const SHORT_NAP: Duration = Duration::from_millis(1);

/// The traffic above which naps are short, in bytes per microsecond.
const BUSY: u128 = 30;

/// The number of naps without events after which the writer waits to be woken.
const NAPS: u32 = 8;

/// The bounded queue between the pumps and the writer.
#[derive(Debug)]
pub(crate) struct Queue {
    when_full: WhenFull,
    capacity: usize,
    state: Mutex<State>,
    // The queue is above its limit. Checked for every chunk, and so without the lock.
    overfull: AtomicBool,
    filled: Condvar,
    drained: Condvar,
    // The watchdog waits here until the queue is above its limit.
    alarmed: Condvar,
    spent: Spent,
}

#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold in any combination"
)]
struct State {
    events: Vec<Event>,
    bytes: usize,
    // The cost of the largest queued event.
    largest: usize,
    // The maximum that was ever queued.
    most: Amount,
    // The total of dropped events.
    lost: Amount,
    // Whether the last batch had arrived quickly.
    quick: bool,
    // Dropped events that are still to be reported, by session.
    gaps: BTreeMap<SessionKey, Gap>,
    // The last time reported by `tick`.
    tick: Option<Offset>,
    // Tasks that wait for the queue to drain.
    wakers: Vec<Waker>,
    // The writer waits to be woken.
    asleep: bool,
    // The writer is processing a batch.
    busy: bool,
    // A thread waits for the queue to drain.
    awaited: bool,
    // The disk has stalled: threads no longer wait for it.
    given_up: bool,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(when_full: WhenFull) -> Self {
        Self::with_capacity(when_full, CAPACITY)
    }

    /// A queue for a judge or listener that never blocks traffic: its reader may fall behind for a
    /// while, and then gets a gap.
    pub(crate) fn aside() -> Self {
        Self::with_capacity(WhenFull::Gap, CAPACITY_ASIDE)
    }

    /// A queue with this capacity in bytes.
    fn with_capacity(when_full: WhenFull, capacity: usize) -> Self {
        Self {
            when_full,
            capacity,
            state: Mutex::default(),
            overfull: AtomicBool::new(false),
            filled: Condvar::new(),
            drained: Condvar::new(),
            alarmed: Condvar::new(),
            spent: Spent::default(),
        }
    }

    /// Adds what `next` yields until it yields `None`. Does not wait: a queue that waits when full
    /// may be above its limit until [`keep_pace`](Self::keep_pace).
    pub(crate) fn push(&self, mut next: impl FnMut() -> Option<Event>) {
        let Some(mut event) = next() else { return };
        let mut count = 1;
        let mut state = self.lock();
        loop {
            state.add(event, self.when_full, self.capacity);
            count += 1;
            match next() {
                Some(next) => event = next,
                None => break,
            }
        }
        state.most.bytes = state.most.bytes.max(state.bytes as u64);
        state.most.events = state.most.events.max(state.events.len() as u64);
        if state.bytes > self.capacity && !state.given_up {
            self.overfull.store(true, Ordering::Relaxed);
            self.alarmed.notify_one();
        }
        self.wake(&state);
        drop(state);
        // One more than were added, since sometimes another thread holds the lock.
        self.spent.free(count);
    }

    /// Waits while the queue is above its limit and has a writer.
    pub(crate) fn keep_pace(&self) {
        if !self.is_overfull() {
            return;
        }
        let mut state = self.lock();
        while state.is_waited_for(self.capacity) {
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
        self.when_full != WhenFull::Gap && self.overfull.load(Ordering::Relaxed)
    }

    fn wake(&self, state: &State) {
        if state.asleep || state.bytes > self.capacity / 2 {
            self.filled.notify_one();
        }
    }

    /// Takes back the events of `batch`, to be freed by senders, and moves the queued events into
    /// it; returns false when the queue is closed and empty. Sometimes returns with an empty batch
    /// while there are no events.
    pub(crate) fn take(&self, batch: &mut Vec<Event>) -> bool {
        self.spent.put(batch);
        let mut state = self.lock();
        state.busy = false;
        if std::mem::take(&mut state.given_up) {
            let events = state.events.len();
            info!(name: "disk_back", target: "tapewright::record", events);
        }
        let (mut naps, mut is_cleared) = (0, false);
        let nap = if state.quick { SHORT_NAP } else { NAP };
        while state.events.is_empty() {
            state.release(&self.drained);
            if state.closed {
                state.tell_gaps(Offset::default());
                std::mem::swap(&mut state.events, batch);
                return !batch.is_empty();
            }
            if state.tick.is_some() {
                return true;
            }
            state = if naps < NAPS {
                naps += 1;
                let nap = self.filled.wait_timeout(state, nap);
                nap.unwrap_or_else(PoisonError::into_inner).0
            } else if !std::mem::replace(&mut is_cleared, true) {
                drop(state);
                self.spent.clear();
                self.lock()
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
        state.largest = 0;
        self.overfull.store(false, Ordering::Relaxed);
        state.busy = true;
        state.release(&self.drained);
        true
    }

    /// Like [`keep_pace`](Self::keep_pace) for a task: pending while the queue is above its limit;
    /// the task is woken when it should poll again.
    pub(crate) fn poll_pace(&self, waker: &Waker) -> Poll<()> {
        if !self.is_overfull() {
            return Poll::Ready(());
        }
        let mut state = self.lock();
        if !state.is_waited_for(self.capacity) {
            return Poll::Ready(());
        }
        state.awaited = true;
        if !state.wakers.iter().any(|known| known.will_wake(waker)) {
            state.wakers.push(waker.clone());
        }
        self.filled.notify_one();
        Poll::Pending
    }

    /// Passes the time to the writer, even without events.
    pub(crate) fn tick(&self, now: Offset) {
        self.lock().tick = Some(now);
        self.filled.notify_one();
    }

    /// The time from `tick` since the last call.
    pub(crate) fn ticked(&self) -> Option<Offset> {
        self.lock().tick.take()
    }

    /// The queued amount, its maximum so far, and the dropped amount; for queued events bytes
    /// include payload and bookkeeping, for dropped ones only payload.
    pub(crate) fn figures(&self) -> [Amount; 3] {
        let state = self.lock();
        let waiting = Amount {
            events: state.events.len() as u64,
            bytes: state.bytes as u64,
        };
        [waiting, state.most, state.lost]
    }

    /// Waits until the writer has processed everything that was pushed before.
    pub(crate) fn wait_until_drained(&self) {
        let mut state = self.lock();
        // A limited number of checks suffices: later events do not matter.
        let mut looks = 0;
        while (state.busy || !state.events.is_empty()) && !state.closed && looks < 1_000 {
            looks += 1;
            state.awaited = true;
            self.filled.notify_one();
            let wait = self.drained.wait_timeout(state, NAP);
            state = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Closes the queue for further events.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.awaited = true;
        state.release(&self.drained);
        drop(state);
        self.filled.notify_all();
        self.alarmed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, event: Event, when_full: WhenFull, capacity: usize) {
        if self.closed {
            return;
        }
        let cost = cost(&event);
        let largest = self.largest.max(cost);
        let may_lose = when_full == WhenFull::Gap || self.given_up;
        if may_lose && self.bytes + cost - largest > capacity {
            return self.swallow(&event);
        }
        if !self.gaps.is_empty() {
            self.tell_gaps(event.at);
        }
        self.bytes += cost;
        self.largest = largest;
        self.events.push(event);
    }

    fn swallow(&mut self, event: &Event) {
        let gap = self.gaps.entry(event.session).or_insert_with(|| Gap {
            why: GapReason::QueueFull,
            ..Gap::default()
        });
        let bytes = payload_bytes(event) as u64;
        gap.events += 1;
        gap.bytes += bytes;
        self.lost.events += 1;
        self.lost.bytes += bytes;
    }

    /// Whether the queue is above its limit, and senders wait for the writer.
    fn is_waited_for(&self, capacity: usize) -> bool {
        self.bytes > capacity && !self.given_up && !self.closed
    }

    /// Inserts gaps for dropped events in their place.
    fn tell_gaps(&mut self, at: Offset) {
        for (session, gap) in std::mem::take(&mut self.gaps) {
            let body = EventBody::Gap(gap);
            self.events.push(Event {
                session,
                ..Event::new(at, Direction::ToClient, body)
            });
        }
    }

    /// Wakes those who wait for the queue to drain.
    fn release(&mut self, drained: &Condvar) {
        if self.awaited {
            self.awaited = false;
            drained.notify_all();
            self.wakers.drain(..).for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests;
