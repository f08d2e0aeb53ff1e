//! What others may know of a recording while it runs.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// So many events, and so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// How many events.
    pub events: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl Amount {
    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            events: self.events.saturating_add(other.events),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

/// How a recorder keeps up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// What waits to be written, in bytes of payload and bookkeeping.
    pub waiting: Amount,
    /// The most that ever waited.
    pub most: Amount,
    /// What is missing because too much waited, in bytes of payload.
    pub lost_to_queue: Amount,
    /// What is missing because the disk did not take it, in bytes of payload.
    pub lost_to_disk: Amount,
}

/// Figures that the writer keeps up to date.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    // How many requests of the client await their response, as far as written.
    owed: AtomicUsize,
    lost_events: AtomicU64,
    lost_bytes: AtomicU64,
}

impl Stats {
    /// Takes the figures of a batch that was written, and what the disk did not take so far.
    pub(crate) fn update(&self, owed: usize, lost: Amount) {
        self.owed.store(owed, Ordering::Relaxed);
        // Written only when there is something to tell, which is hardly ever.
        if self.lost_events.load(Ordering::Relaxed) != lost.events {
            self.lost_events.store(lost.events, Ordering::Relaxed);
            self.lost_bytes.store(lost.bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn owed(&self) -> usize {
        self.owed.load(Ordering::Relaxed)
    }

    /// What the disk did not take.
    pub(crate) fn lost(&self) -> Amount {
        Amount {
            events: self.lost_events.load(Ordering::Relaxed),
            bytes: self.lost_bytes.load(Ordering::Relaxed),
        }
    }
}
