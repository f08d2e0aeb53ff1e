//! Records the events of one exchange, and its session.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tapewright_schemas::event::{
    Carrier, ConduitId, Direction, Event, EventBody, MessageCount, MessageNumber, Offset,
    SessionKey,
};

use super::budget::Budget;
use crate::clock::Clock;
use crate::record::{Durability, Recorder};

/// Records the events of one exchange. Until its session is decided they are held, at most until
/// the peer sends its next frame.
#[derive(Debug)]
pub(crate) struct Log {
    recorder: Arc<Recorder>,
    clock: Clock,
    conduit: ConduitId,
    budget: Arc<Budget>,
    // When the last forwarded piece of the response arrived.
    came: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    session: Option<SessionKey>,
    held: Vec<Event>,
    // The number of messages in each direction, and their carriers.
    counts: [MessageCount; 2],
    carriers: [Carrier; 2],
}

impl Log {
    pub(crate) fn new(
        recorder: Arc<Recorder>,
        clock: Clock,
        conduit: ConduitId,
        budget: Arc<Budget>,
        session: Option<SessionKey>,
    ) -> Self {
        Self {
            recorder,
            clock,
            conduit,
            budget,
            came: AtomicU64::default(),
            state: Mutex::new(State {
                session,
                ..State::default()
            }),
        }
    }

    /// Sets when the next piece of the response to forward arrived.
    pub(super) fn set_came(&self, at: Offset) {
        self.came.store(at.0, Ordering::Relaxed);
    }

    /// When the last forwarded piece of the response arrived.
    pub(crate) fn came(&self) -> Offset {
        Offset(self.came.load(Ordering::Relaxed))
    }

    /// Records an event with the current time.
    pub(crate) fn note(&self, dir: Direction, body: EventBody) {
        self.note_all(dir, [body]);
    }

    /// Records several events with the current time.
    pub(crate) fn note_all(&self, dir: Direction, bodies: impl IntoIterator<Item = EventBody>) {
        let at = self.clock.now();
        let mut state = self.lock();
        let State {
            session,
            held,
            counts,
            carriers,
        } = &mut *state;
        let mut events = bodies.into_iter().map(|mut body| {
            if let EventBody::Message { origin, .. } = &mut body
                && let Some(count) = counts.get_mut(dir as usize)
            {
                origin.number = count.advance();
                origin.carrier = carriers.get(dir as usize).copied().unwrap_or_default();
            }
            Event {
                conduit: self.conduit,
                session: session.unwrap_or_default(),
                ..Event::new(at, dir, body)
            }
        });
        if session.is_none() {
            held.extend(events);
            return;
        }
        // Under the lock, so that the events of one exchange keep their order.
        self.write(|| events.next());
    }

    /// Sets the carrier of the messages of a direction from here on.
    pub(crate) fn carry(&self, dir: Direction, by: Carrier) {
        if let Some(carrier) = self.lock().carriers.get_mut(dir as usize) {
            *carrier = by;
        }
    }

    /// The carrier of the messages of a direction.
    pub(crate) fn carrier(&self, dir: Direction) -> Carrier {
        let carriers = self.lock().carriers;
        carriers.get(dir as usize).copied().unwrap_or_default()
    }

    /// The number of the last recorded message in this direction.
    pub(crate) fn last_message(&self, dir: Direction) -> Option<MessageNumber> {
        let state = self.lock();
        state
            .counts
            .get(dir as usize)
            .and_then(|count| count.last())
    }

    /// The session of the exchange, if decided.
    pub(crate) fn session(&self) -> Option<SessionKey> {
        self.lock().session
    }

    /// Decides the session of the exchange, unless it is already decided.
    pub(crate) fn decide(&self, session: SessionKey) {
        let mut state = self.lock();
        if state.session.is_some() {
            return;
        }
        state.session = Some(session);
        let mut held = std::mem::take(&mut state.held).into_iter();
        self.write(|| {
            let event = held.next()?;
            Some(Event { session, ..event })
        });
    }

    /// Pending while the recorder asks to wait.
    pub(crate) fn poll_pace(&self, context: &Context<'_>) -> Poll<()> {
        self.recorder.poll_pace(context)
    }

    /// The shared memory limit of the taps.
    pub(super) fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.budget)
    }

    /// The maximum length of a message that is recorded whole, in bytes.
    pub(crate) fn limit_bytes(&self) -> usize {
        self.recorder.limit_bytes()
    }

    pub(super) fn now(&self) -> Offset {
        self.clock.now()
    }

    fn write(&self, next: impl FnMut() -> Option<Event>) {
        if self.recorder.durability() == Durability::Synced {
            tokio::task::block_in_place(|| self.recorder.record(next));
        } else {
            self.recorder.record(next);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
