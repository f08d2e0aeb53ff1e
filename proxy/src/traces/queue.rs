//! Spans that wait to be sent: so many of them, and so many bytes.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::Frame;
use super::figures::{Figures, Loss};
use crate::clock::Clock;

/// A span, and what it stands in.
#[derive(Debug)]
pub(super) struct Item {
    /// Its JSON text.
    pub(super) span: Vec<u8>,
    /// What is around it in a request.
    pub(super) frame: Arc<Frame>,
}

/// How long the sender has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// The recording goes on.
    Open,
    /// It has ended, and this much is left.
    Left(Duration),
}

/// Spans between the reader of tapes and the sender.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    // The sender waits for spans, and for the end, by the one; the reader for room by the other.
    news: Notify,
    room: Condvar,
    most: usize,
    // The sender is woken once so many wait, and not for each of them.
    batch: usize,
    clock: Clock,
    figures: Arc<Figures>,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    // The collector did not take what it was sent last.
    failing: bool,
    // Nothing more comes.
    closed: bool,
    // Until when spans are sent, by our clock, once the recording has ended.
    until: Option<Duration>,
}

/// How many bytes of spans wait at most, beside one span of any size.
const BYTES: usize = 32 << 20;
/// How long the reader waits for room before it looks whether it still should.
const LOOK: Duration = Duration::from_millis(100);

impl Queue {
    /// A queue of so many spans, which are taken in batches of this size.
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

    /// Adds a span. Waits for room while the collector takes what it is sent; otherwise one that finds no room is lost.
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

    /// How much of the tapes was not read, in bytes.
    pub(super) fn set_unread(&self, bytes: u64) {
        self.figures.set_unread(bytes);
    }

    /// Nothing more comes.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    /// The recording has ended; what is left is sent within this time.
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

    /// How much time is left to send.
    pub(super) fn time(&self) -> Time {
        let until = self.lock().until;
        until.map_or(Time::Open, |until| {
            Time::Left(until.saturating_sub(self.clock.elapsed()))
        })
    }

    /// The collector took what it was sent, or it did not.
    pub(super) fn set_failing(&self, failing: bool) {
        self.lock().failing = failing;
        self.room.notify_all();
    }

    /// Waits until something may have come, or it has ended.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// How many wait, and whether nothing more comes for which they could wait.
    pub(super) fn waiting(&self) -> (usize, bool) {
        let state = self.lock();
        (state.items.len(), state.closed)
    }

    /// Whether nothing waits and nothing will come.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.closed && state.items.is_empty()
    }

    /// The next spans, so many and so many bytes of them.
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

    /// Why senders no longer wait for room, if so.
    fn gives_up(&self, now: Duration) -> Option<Loss> {
        if self.until.is_some_and(|until| now >= until) {
            return Some(Loss::Ended);
        }
        self.failing.then_some(Loss::QueueFull)
    }
}
