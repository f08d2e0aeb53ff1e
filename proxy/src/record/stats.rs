//! What others may know of a recording while it runs.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tapewright_schemas::tape::GapTotal;

/// Figures that the writer keeps up to date.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    // How many requests of the client await their response, as far as written.
    owed: AtomicUsize,
    gaps: AtomicU64,
    gap_events: AtomicU64,
    gap_bytes: AtomicU64,
    // The most that was ever told: what is swallowed is for an instant neither in the
    // queue nor on a tape.
    told: [AtomicU64; 3],
}

impl Stats {
    /// Takes the figures of a batch that was written.
    pub(crate) fn update(&self, owed: usize, gaps: GapTotal) {
        self.owed.store(owed, Ordering::Relaxed);
        // Written only when there is something to tell, which is hardly ever.
        if self.gaps.load(Ordering::Relaxed) != gaps.count {
            self.gaps.store(gaps.count, Ordering::Relaxed);
            self.gap_events.store(gaps.events, Ordering::Relaxed);
            self.gap_bytes.store(gaps.bytes, Ordering::Relaxed);
        }
    }

    pub(crate) fn owed(&self) -> usize {
        self.owed.load(Ordering::Relaxed)
    }

    /// What is missing on the tapes, and `untold` on its way there. Never less than was
    /// told before.
    pub(crate) fn gaps(&self, untold: GapTotal) -> GapTotal {
        let told = |most: &AtomicU64, now: &AtomicU64, untold: u64| {
            let sum = now.load(Ordering::Relaxed).saturating_add(untold);
            most.fetch_max(sum, Ordering::Relaxed).max(sum)
        };
        let [count, events, bytes] = &self.told;
        GapTotal {
            count: told(count, &self.gaps, untold.count),
            events: told(events, &self.gap_events, untold.events),
            bytes: told(bytes, &self.gap_bytes, untold.bytes),
        }
    }
}
