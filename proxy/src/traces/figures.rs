//! How many spans arrived, and how many did not.

use std::sync::atomic::{AtomicU64, Ordering};

/// Why spans did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The recording ended, and the time to send what was left was over.
    Ended,
    /// The queue was full, while the collector took nothing.
    QueueFull,
    /// The collector refused a request that holds them.
    Refused,
    /// The collector took a request, and not all spans of it.
    Rejected,
    /// The collector could not be reached, or was never ready, as long as they were tried.
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

    /// The word for it in figures and in the log.
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

/// How many spans arrived, and how many did not.
#[derive(Debug, Default)]
pub struct Figures {
    sent: AtomicU64,
    lost: [AtomicU64; Loss::ALL.len()],
    waiting: AtomicU64,
    unread: AtomicU64,
}

impl Figures {
    /// How many the collector took.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// How many did not arrive, for this cause.
    #[must_use]
    pub fn lost(&self, loss: Loss) -> u64 {
        self.lost_for(loss).load(Ordering::Relaxed)
    }

    /// How many did not arrive.
    #[must_use]
    pub fn all_lost(&self) -> u64 {
        Loss::ALL.into_iter().map(|loss| self.lost(loss)).sum()
    }

    /// How many wait to be sent.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// How much of the tapes was not read for want of time once the recording had ended, in bytes: their spans are counted nowhere.
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
