//! The bounded queue between the pumps and the writer.

mod spent;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use tapewright_schemas::event::{
    Direction, Event, EventBody, Fields, Gap, Head, Offset, Payload, SessionKey,
};
use tapewright_schemas::tape::GapTotal;

use self::spent::Spent;
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
/// before they are written, and that to write them at once would keep others waiting.
const SHORT_NAP: Duration = Duration::from_millis(1);

/// From how much traffic on naps are short, in bytes per microsecond.
const BUSY: u128 = 30;

/// How many naps without an event make the writer wait to be woken.
const NAPS: u32 = 8;

/// The bounded queue between the pumps and the writer.
#[derive(Debug)]
pub(crate) struct Queue {
    when_full: WhenFull,
    capacity: usize,
    state: Mutex<State>,
    // More waits than may. Looked at for every chunk, and so without the lock.
    overfull: AtomicBool,
    filled: Condvar,
    drained: Condvar,
    spent: Spent,
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
    // What was swallowed and is not told yet, by session.
    gaps: BTreeMap<SessionKey, Gap>,
    // The time that somebody who looks after idle recordings told last.
    tick: Option<Offset>,
    // Tasks that wait for the queue to drain.
    wakers: Vec<Waker>,
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
        Self::with_capacity(when_full, CAPACITY)
    }

    /// A queue in which so many bytes may wait.
    pub(crate) fn with_capacity(when_full: WhenFull, capacity: usize) -> Self {
        Self {
            when_full,
            capacity,
            state: Mutex::default(),
            overfull: AtomicBool::new(false),
            filled: Condvar::new(),
            drained: Condvar::new(),
            spent: Spent::default(),
        }
    }

    /// Adds what `next` yields until it yields `None`. Does not wait: a queue that waits
    /// when full may be overfull until [`keep_pace`](Self::keep_pace).
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
        if state.bytes > self.capacity {
            self.overfull.store(true, Ordering::Relaxed);
        }
        self.wake(&state);
        drop(state);
        // One more than were added: at times somebody else is at it.
        self.spent.free(count);
    }

    /// Waits while the queue is overfull and the writer is there to empty it.
    pub(crate) fn keep_pace(&self) {
        if !self.is_overfull() {
            return;
        }
        let mut state = self.lock();
        while state.bytes > self.capacity && !state.closed {
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
        self.when_full == WhenFull::Wait && self.overfull.load(Ordering::Relaxed)
    }

    fn wake(&self, state: &State) {
        if state.asleep || state.bytes > self.capacity / 2 {
            self.filled.notify_one();
        }
    }

    /// Takes back what `batch` holds, to be freed by those who add others, and moves into it
    /// what waits; false when the queue is closed and empty. Returns with an empty batch now and
    /// then while nothing comes.
    pub(crate) fn take(&self, batch: &mut Vec<Event>) -> bool {
        self.spent.put(batch);
        let mut state = self.lock();
        state.busy = false;
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
        self.overfull.store(false, Ordering::Relaxed);
        state.busy = true;
        state.release(&self.drained);
        true
    }

    /// As [`keep_pace`](Self::keep_pace) for a task: pending while the queue is overfull,
    /// and the task is woken when it is worth asking again.
    pub(crate) fn poll_pace(&self, waker: &Waker) -> Poll<()> {
        if !self.is_overfull() {
            return Poll::Ready(());
        }
        let mut state = self.lock();
        if state.bytes <= self.capacity || state.closed {
            return Poll::Ready(());
        }
        state.awaited = true;
        if !state.wakers.iter().any(|known| known.will_wake(waker)) {
            state.wakers.push(waker.clone());
        }
        self.filled.notify_one();
        Poll::Pending
    }

    /// Tells the writer what time it is, also when nothing comes.
    pub(crate) fn tick(&self, now: Offset) {
        self.lock().tick = Some(now);
        self.filled.notify_one();
    }

    /// The time that was told since the last call.
    pub(crate) fn ticked(&self) -> Option<Offset> {
        self.lock().tick.take()
    }

    /// How much waits for the writer, in bytes of payload and bookkeeping.
    pub(crate) fn depth_bytes(&self) -> usize {
        self.lock().bytes
    }

    /// What was swallowed and is not on the tape yet.
    pub(crate) fn untold(&self) -> GapTotal {
        let mut total = GapTotal::default();
        for gap in self.lock().gaps.values() {
            total.count += 1;
            total.events += gap.events;
            total.bytes += gap.bytes;
        }
        total
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
        let mut state = self.lock();
        state.closed = true;
        state.awaited = true;
        state.release(&self.drained);
        drop(state);
        self.filled.notify_all();
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
        let full = self.bytes + cost > capacity && !self.events.is_empty();
        if full && when_full == WhenFull::Gap {
            return self.swallow(&event);
        }
        if !self.gaps.is_empty() {
            self.tell_gaps(event.at);
        }
        self.bytes += cost;
        self.events.push(event);
    }

    fn swallow(&mut self, event: &Event) {
        let gap = self.gaps.entry(event.session).or_insert_with(|| Gap {
            events: 0,
            bytes: 0,
            why: "the queue was full".to_owned(),
        });
        gap.events += 1;
        gap.bytes += payload_bytes(event) as u64;
    }

    /// Puts what was swallowed where it is missing.
    fn tell_gaps(&mut self, at: Offset) {
        for (session, gap) in std::mem::take(&mut self.gaps) {
            let body = EventBody::Gap(gap);
            self.events.push(Event {
                session,
                ..Event::new(at, Direction::ToClient, body)
            });
        }
    }

    /// Lets those go on who wait for the queue to drain.
    fn release(&mut self, drained: &Condvar) {
        if self.awaited {
            self.awaited = false;
            drained.notify_all();
            self.wakers.drain(..).for_each(Waker::wake);
        }
    }
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
        EventBody::Message { payload, .. } | EventBody::Body { payload } => payload.kept().len(),
        EventBody::Stderr { line, .. } => line.len(),
        EventBody::Head(head) => match head.as_ref() {
            Head::Request(head) => head.target.len() + fields_bytes(&head.fields),
            Head::Response(head) => fields_bytes(&head.fields),
        },
        EventBody::Trailers(fields) => fields_bytes(fields),
        EventBody::Edited(edit) => edit.before.len() + edit.after.len(),
        EventBody::Sse(note) => [&note.id, &note.event, &note.comment]
            .into_iter()
            .flatten()
            .map(String::len)
            .sum(),
        _ => 0,
    }
}

/// Names, values, and what it costs to hold them.
fn fields_bytes(fields: &Fields) -> usize {
    fields.bytes() + fields.len() * FIELD_OVERHEAD
}

/// What a field costs beside its text, in bytes.
const FIELD_OVERHEAD: usize = 16;

#[cfg(test)]
mod tests;
