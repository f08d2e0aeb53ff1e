//! Timers with a precision of a tenth of a millisecond. The runtime's timers count whole
//! milliseconds and fire up to two of them late, which is the tolerance of a delay.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tapewright_schemas::event::Offset;

use crate::clock::Clock;

/// How long the thread stays without a waiter.
const IDLE: Duration = Duration::from_secs(1);

/// Wakes tasks at their time, on a thread that runs as long as there are waiters.
#[derive(Debug)]
pub(crate) struct Alarm {
    clock: Clock,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    // By time, and by a number that makes each entry unique.
    waiting: BTreeMap<(Offset, u64), Waker>,
    last: u64,
    has_thread: bool,
}

impl Alarm {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            shared: Arc::default(),
        }
    }

    /// Waits until this time. Never completes if the system cannot start a thread.
    pub(super) fn at(&self, due: Offset) -> At {
        let mut state = self.shared.lock();
        state.last += 1;
        At {
            clock: self.clock,
            shared: Arc::clone(&self.shared),
            place: (due, state.last),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of the thread.
    fn wake(&self, clock: Clock) {
        let mut state = self.lock();
        loop {
            let now = clock.now();
            while let Some(first) = state.waiting.first_entry()
                && first.key().0 <= now
            {
                first.remove().wake();
            }
            let first = state.waiting.keys().next();
            let left = first.map(|(due, _)| Duration::from_micros(due.since(now).0));
            let wait = self.changed.wait_timeout(state, left.unwrap_or(IDLE));
            let (woken, timeout) = wait.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if left.is_none() && timeout.timed_out() && state.waiting.is_empty() {
                state.has_thread = false;
                return;
            }
        }
    }
}

/// Completes at its time.
pub(super) struct At {
    clock: Clock,
    shared: Arc<Shared>,
    place: (Offset, u64),
}

impl Future for At {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let (clock, shared) = (self.clock, &self.shared);
        if clock.now() >= self.place.0 {
            return Poll::Ready(());
        }
        let mut state = shared.lock();
        state.waiting.insert(self.place, context.waker().clone());
        if !state.has_thread {
            let held = Arc::clone(shared);
            let thread = thread::Builder::new().name("alarm".to_owned());
            state.has_thread = thread.spawn(move || held.wake(clock)).is_ok();
        } else if state.waiting.keys().next() == Some(&self.place) {
            shared.changed.notify_one();
        }
        Poll::Pending
    }
}

impl Drop for At {
    fn drop(&mut self) {
        self.shared.lock().waiting.remove(&self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_is_woken_before_the_time() {
        let clock = Clock::start();
        let alarm = Alarm::new(clock);
        let later = |ms: u64| Offset(clock.now().0 + ms * 1_000);
        for _ in 0..3 {
            let (first, second) = (later(2), later(4));
            let ((), ()) = tokio::join!(alarm.at(second), alarm.at(first));
            assert!(clock.now() >= second);
        }
        alarm.at(Offset::default()).await;
        assert!(alarm.shared.lock().waiting.is_empty());
    }

    #[tokio::test]
    async fn who_waits_no_longer_is_forgotten() {
        let alarm = Alarm::new(Clock::start());
        {
            let mut far = std::pin::pin!(alarm.at(Offset(u64::MAX)));
            let once = std::future::poll_fn(|context| Poll::Ready(far.as_mut().poll(context)));
            assert_eq!(once.await, Poll::Pending);
            assert_eq!(alarm.shared.lock().waiting.len(), 1);
        }
        assert!(alarm.shared.lock().waiting.is_empty());
    }
}
