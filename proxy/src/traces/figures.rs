//! The numbers of spans that arrived and that did not.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why spans did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The recording ended, and so did the time for sending the rest.
    Ended,
    /// The queue was full, while the collector accepted nothing.
    QueueFull,
    /// The collector refused a request with them.
    Refused,
    /// The collector accepted a request, but not all its spans.
    Rejected,
    /// The collector was unreachable or unavailable during all attempts.
    Unreachable,
}

impl Loss {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Ended,
        Self::QueueFull,
        Self::Refused,
        Self::Rejected,
        Self::Unreachable,
    ];

    /// Its name in metrics and in the log.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::QueueFull => "queue_full",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::Unreachable => "unreachable",
        }
    }
}

/// The numbers of spans that arrived and that did not.
#[derive(Debug, Default)]
pub struct Figures {
    sent: AtomicU64,
    lost: [AtomicU64; Loss::ALL.len()],
    waiting: AtomicU64,
    unread: AtomicU64,
}

impl Figures {
    /// How many the collector accepted.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// How many did not arrive, for this cause.
    #[must_use]
    pub fn lost(&self, loss: Loss) -> u64 {
        self.lost_for(loss).load(Ordering::Relaxed)
    }

    /// How many did not arrive, for any cause.
    #[must_use]
    pub fn all_lost(&self) -> u64 {
        Loss::ALL.into_iter().map(|loss| self.lost(loss)).sum()
    }

    /// How many are waiting to be sent.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// How many bytes of the tapes were not read in time after the recording had ended: their spans
    /// are not counted anywhere.
    #[must_use]
    pub fn unread_bytes(&self) -> u64 {
        self.unread.load(Ordering::Relaxed)
    }

    pub(super) fn set_unread(&self, bytes: u64) {
        self.unread.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn add_sent(&self, spans: u64) {
        self.sent.fetch_add(spans, Ordering::Relaxed);
    }

    pub(crate) fn add_lost(&self, loss: Loss, spans: u64) {
        self.lost_for(loss).fetch_add(spans, Ordering::Relaxed);
    }

    fn lost_for(&self, loss: Loss) -> &AtomicU64 {
        let [ended, full, refused, rejected, unreachable] = &self.lost;
        match loss {
            Loss::Ended => ended,
            Loss::QueueFull => full,
            Loss::Refused => refused,
            Loss::Rejected => rejected,
            Loss::Unreachable => unreachable,
        }
    }

    pub(super) fn set_waiting(&self, spans: usize) {
        self.waiting.store(spans as u64, Ordering::Relaxed);
    }
}
