//! Limits the processor time of the reader.
//!
//! A recorder that runs at its limit needs all processor time. In that case the reader only takes a
//! small part, and the page shows the newest rows; the rest is read when the recorder has time, or
//! when a viewer asks for it.

use std::time::Duration;

use tapewright_schemas::event::Offset;

/// The reader's budget of processor time.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    share: u32,
    // The remaining processor time, in microseconds; negative after too much was used.
    left: i64,
    // The processor time of this thread, and the time, at the last update.
    spent: Duration,
    settled: Offset,
    // The total length of the growing tapes at the last check.
    bytes: Option<(Offset, u64)>,
    is_busy: bool,
    // Whether there was a writer since this thread started, and whether that was reported.
    has_writer: bool,
    has_stepped_back: bool,
}

/// The divisor for the share of a processor while the recorder is busy.
const SHARE: u32 = 200;
/// The maximum saved processor time, in microseconds: enough to read a small recording immediately.
const MOST_SAVED: i64 = 10_000;
/// The interval between checks of the tapes' growth.
pub(super) const LOOK: Duration = Duration::from_millis(250);
/// A recorder that writes more than this many bytes a second is busy.
const BUSY_BYTES: u64 = 512 << 10;

impl Default for Pace {
    fn default() -> Self {
        Self::of(SHARE)
    }
}

impl Pace {
    /// Takes one part in `share` of a processor while the recorder is busy.
    pub(super) fn of(share: u32) -> Self {
        Self {
            share,
            left: MOST_SAVED.min(i64::from(u32::MAX / share)),
            spent: Duration::ZERO,
            settled: Offset::default(),
            bytes: None,
            is_busy: true,
            has_writer: false,
            has_stepped_back: false,
        }
    }

    /// Takes nothing, as if the recorder were always busy.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self {
            left: i64::MIN / 2,
            bytes: Some((Offset(u64::MAX), 0)),
            ..Self::of(SHARE)
        }
    }

    /// Updates the processor time used by this thread.
    pub(super) fn settle(&mut self, now: Offset, spent: Duration) {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let passed = now.0.saturating_sub(self.settled.0) / u64::from(self.share);
        let earned = i64::try_from(passed).unwrap_or(i64::MAX);
        let taken = micros(spent.saturating_sub(self.spent));
        self.left = self.left.saturating_add(earned).min(MOST_SAVED) - taken;
        (self.spent, self.settled) = (spent, now);
    }

    /// Whether the length of the tapes must be checked.
    pub(super) fn is_due(&self, now: Offset) -> bool {
        let is_old = |at: Offset| now.0.saturating_sub(at.0) >= micros(LOOK);
        self.bytes.is_none_or(|(at, _)| is_old(at))
    }

    /// Updates the total length of the growing tapes; `None` if there are none.
    pub(super) fn grown(&mut self, now: Offset, bytes: Option<u64>) {
        let Some(bytes) = bytes else {
            (self.is_busy, self.bytes) = (false, Some((now, 0)));
            return;
        };
        self.has_writer = true;
        if let Some((at, before)) = self.bytes {
            let passed = now.0.saturating_sub(at.0).max(1);
            let grown = bytes.saturating_sub(before);
            self.is_busy = grown.saturating_mul(1_000_000) / passed > BUSY_BYTES;
        }
        self.bytes = Some((now, bytes));
    }

    /// Whether this thread must lower its priority: returns true once, when there is a recorder.
    /// The priority cannot be raised again.
    pub(super) fn steps_back(&mut self) -> bool {
        let is_due = self.has_writer && !self.has_stepped_back;
        self.has_stepped_back |= is_due;
        is_due
    }

    /// Whether reading may continue now.
    pub(super) fn may_read(&self) -> bool {
        !self.is_busy || self.left > 0
    }

    /// Whether the recorder is busy, as far as is known.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    #[test]
    fn beside_a_busy_recorder_one_part_in_two_hundred_is_taken() {
        let mut pace = Pace::default();
        let mut taken = Duration::ZERO;
        // It reads for a millisecond whenever it may, and checks a thousand times a second.
        for now in (0..100 * SECOND).step_by(1_000) {
            if pace.is_due(Offset(now)) {
                pace.grown(Offset(now), Some(now * 10));
            }
            if pace.may_read() {
                taken += Duration::from_millis(1);
            }
            pace.settle(Offset(now), taken);
        }
        assert!(pace.is_busy());
        let parts = taken.as_millis();
        assert!((500..=511).contains(&parts), "{parts} ms of 100 s");
    }

    #[test]
    fn beside_one_that_is_not_nothing_is_saved_up_and_nothing_kept_back() {
        let mut pace = Pace::default();
        pace.settle(Offset(0), Duration::from_secs(1));
        assert!(!pace.may_read());
        pace.grown(Offset(0), Some(1 << 30));
        assert!(!pace.may_read(), "it is not known yet");
        pace.grown(Offset(SECOND), Some((1 << 30) + 10_000));
        assert!(pace.may_read());
        pace.grown(Offset(2 * SECOND), Some((1 << 30) + 10_000_000));
        assert!(!pace.may_read());
        // Its writer is gone.
        pace.grown(Offset(3 * SECOND), None);
        assert!(pace.may_read());
    }

    #[test]
    fn only_beside_a_recorder_it_stands_behind_all_others_and_is_told_so_once() {
        let mut pace = Pace::default();
        assert!(!pace.steps_back(), "nothing is known yet");
        pace.grown(Offset(0), None);
        assert!(!pace.steps_back(), "nobody writes");
        pace.grown(Offset(SECOND), Some(1));
        assert!(pace.steps_back());
        pace.grown(Offset(2 * SECOND), Some(2));
        assert!(!pace.steps_back());
    }
}
