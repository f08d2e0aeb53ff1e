//! The public state of a recording while it runs.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A number of events, and of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// The number of events.
    pub events: u64,
    /// The number of bytes.
    pub bytes: u64,
}

impl Amount {
    /// The sum.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            events: self.events.saturating_add(other.events),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// The state of a recorder's queue, and its losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// The queued events, in bytes of payload and bookkeeping.
    pub waiting: Amount,
    /// The maximum that was ever queued.
    pub most: Amount,
    /// Events lost because the queue was full, in bytes of payload.
    pub lost_to_queue: Amount,
    /// Events lost because the disk did not take them, in bytes of payload.
    pub lost_to_disk: Amount,
}

/// Counters that the writer updates.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    // The number of the client's pending requests, as far as written.
    owed: AtomicUsize,
    lost_events: AtomicU64,
    lost_bytes: AtomicU64,
}

impl Stats {
    /// Updates the counters after a batch was written, with the total loss to the disk.
    pub(crate) fn update(&self, owed: usize, lost: Amount) {
        self.owed.store(owed, Ordering::Relaxed);
        // Written only if it changed, which is rare.
        if self.lost_events.load(Ordering::Relaxed) != lost.events {
            self.lost_events.store(lost.events, Ordering::Relaxed);
            self.lost_bytes.store(lost.bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn owed(&self) -> usize {
        self.owed.load(Ordering::Relaxed)
    }

    /// The loss to the disk.
    pub(crate) fn lost(&self) -> Amount {
        Amount {
            events: self.lost_events.load(Ordering::Relaxed),
            bytes: self.lost_bytes.load(Ordering::Relaxed),
        }
    }
}
