//! Distinguishes a slow disk from one that has stalled.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use tracing::warn;

use super::Queue;

/// Tracks the writer's calls to the disk. Odd during a call.
#[derive(Debug, Default)]
pub(crate) struct Disk(AtomicU64);

impl Disk {
    /// Makes a call to the disk that may block.
    pub(crate) fn call<T>(&self, call: impl FnOnce() -> T) -> T {
        self.0.fetch_add(1, Ordering::Relaxed);
        let result = call();
        self.0.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// The number of the current call.
    pub(super) fn under_way(&self) -> Option<u64> {
        let calls = self.0.load(Ordering::Relaxed);
        (!calls.is_multiple_of(2)).then_some(calls)
    }
}

/// Watches the disk while the queue is above its limit: if a single call takes longer than
/// `patience`, traffic continues, and events that do not fit become a gap. A slow disk finishes
/// calls between two checks, and is waited for.
pub(crate) fn watch(queue: Arc<Queue>, disk: Arc<Disk>, patience: Duration) -> io::Result<()> {
    let watch = move || {
        while queue.wait_until_overfull() {
            let before = disk.under_way();
            if queue.stays_overfull(patience) && before.is_some() && before == disk.under_way() {
                queue.give_up();
            }
        }
    };
    let watchdog = thread::Builder::new().name("watchdog".to_owned());
    watchdog.spawn(watch).map(drop)
}

impl Queue {
    /// Waits until a thread waits for the writer; returns false when the queue is closed.
    fn wait_until_overfull(&self) -> bool {
        let state = self.lock();
        let calm = |state: &mut super::State| !state.is_waited_for(self.capacity) && !state.closed;
        let state = self.alarmed.wait_while(state, calm);
        !state.unwrap_or_else(PoisonError::into_inner).closed
    }

    /// Whether a thread waits for the writer, and the writer took no events for this long.
    pub(super) fn stays_overfull(&self, patience: Duration) -> bool {
        let mut state = self.lock();
        state.awaited = true;
        let waited_for = |state: &mut super::State| state.is_waited_for(self.capacity);
        let waited = self.drained.wait_timeout_while(state, patience, waited_for);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Stops waiting for the writer until it responds.
    fn give_up(&self) {
        let mut state = self.lock();
        if !state.is_waited_for(self.capacity) {
            return;
        }
        state.given_up = true;
        let (events, bytes) = (state.events.len(), state.bytes);
        warn!(name: "disk_stalled", target: "tapewright::record", events, bytes);
        self.overfull.store(false, Ordering::Relaxed);
        state.release(&self.drained);
    }
}
