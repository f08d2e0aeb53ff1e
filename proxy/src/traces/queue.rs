//! Spans waiting to be sent, limited in number and bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::Frame;
use super::figures::{Figures, Loss};
use crate::clock::Clock;

/// A span with its frame.
#[derive(Debug)]
pub(super) struct Item {
    /// Its JSON text.
    pub(super) span: Vec<u8>,
    /// Its frame in a request.
    pub(super) frame: Arc<Frame>,
}

/// The sender's remaining time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// The recording continues.
    Open,
    /// It has ended, and this much time is left.
    Left(Duration),
}

/// The queue between the reader of tapes and the sender.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    // `news` wakes the sender for spans and for the end, `room` the reader for space.
    news: Notify,
    room: Condvar,
    most: usize,
    // The sender is woken for a full batch, not for each span.
    batch: usize,
    clock: Clock,
    figures: Arc<Figures>,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    // The collector did not accept the last request.
    failing: bool,
    // There are no more spans.
    closed: bool,
    // The deadline for sending, by the local clock, after the recording has ended.
    until: Option<Duration>,
}

/// The capacity in bytes, in addition to one span of any size.
const BYTES: usize = 32 << 20;
/// How long the reader waits for space before it checks whether it should continue to.
const LOOK: Duration = Duration::from_millis(100);

impl Queue {
    /// A queue of at most `most` spans, which are taken in batches of this size.
    pub(super) fn new(most: usize, batch: usize, clock: Clock, figures: Arc<Figures>) -> Self {
        Self {
            state: Mutex::default(),
            news: Notify::new(),
            room: Condvar::new(),
            most: most.max(1),
            batch: batch.clamp(1, most.max(1)),
            clock,
            figures,
        }
    }

    /// Adds a span. Waits for space while the collector accepts requests; otherwise a span without
    /// space is dropped.
    pub(super) fn push(&self, item: Item) {
        let mut state = self.lock();
        while state.is_full(self.most, item.span.len()) {
            if let Some(loss) = state.gives_up(self.clock.elapsed()) {
                drop(state);
                self.figures.add_lost(loss, 1);
                return;
            }
            let waited = self.room.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.bytes += item.span.len();
        state.items.push_back(item);
        let count = state.items.len();
        self.figures.set_waiting(count);
        drop(state);
        if count == 1 || count.is_multiple_of(self.batch) {
            self.news.notify_one();
        }
    }

    /// Sets the number of unread bytes of the tapes.
    pub(super) fn set_unread(&self, bytes: u64) {
        self.figures.set_unread(bytes);
    }

    /// Notes that there are no more spans.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    /// Notes that the recording has ended; the rest is sent within this time.
    pub(super) fn end(&self, within: Duration) {
        let until = self.clock.elapsed() + within;
        self.lock().until.get_or_insert(until);
        self.news.notify_one();
        self.room.notify_all();
    }

    /// Whether the recording has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.lock().until.is_some()
    }

    /// The remaining time for sending.
    pub(super) fn time(&self) -> Time {
        let until = self.lock().until;
        until.map_or(Time::Open, |until| {
            Time::Left(until.saturating_sub(self.clock.elapsed()))
        })
    }

    /// Notes whether the collector failed to accept the last request.
    pub(super) fn set_failing(&self, failing: bool) {
        self.lock().failing = failing;
        self.room.notify_all();
    }

    /// Waits until there may be spans, or it has ended.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// The number of waiting spans, and whether there will be no more.
    pub(super) fn waiting(&self) -> (usize, bool) {
        let state = self.lock();
        (state.items.len(), state.closed)
    }

    /// Whether the queue is empty and there will be no more spans.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.closed && state.items.is_empty()
    }

    /// Takes the next spans, limited in number and bytes.
    pub(super) fn take(&self, spans: usize, bytes: usize) -> Vec<Item> {
        let mut state = self.lock();
        let (mut taken, mut size) = (Vec::new(), 0);
        while taken.len() < spans.max(1)
            && state
                .items
                .front()
                .is_some_and(|item| taken.is_empty() || size + item.span.len() <= bytes)
        {
            let Some(item) = state.items.pop_front() else {
                break;
            };
            size += item.span.len();
            taken.push(item);
        }
        state.bytes -= size.min(state.bytes);
        self.figures.set_waiting(state.items.len());
        drop(state);
        self.room.notify_all();
        taken
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_full(&self, most: usize, bytes: usize) -> bool {
        !self.items.is_empty() && (self.items.len() >= most || self.bytes + bytes > BYTES)
    }

    /// Why senders no longer wait for space, if so.
    fn gives_up(&self, now: Duration) -> Option<Loss> {
        if self.until.is_some_and(|until| now >= until) {
            return Some(Loss::Ended);
        }
        self.failing.then_some(Loss::QueueFull)
    }
}
