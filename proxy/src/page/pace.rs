//! How much of a processor the reader takes.
//!
//! Beside a recorder that records as fast as it can, whatever the reader takes is missing there.
//! So it takes a small part then, and the page shows the newest rows; the rest is read once the
//! recorder has time, or when a viewer asks for it.

use std::time::Duration;

use tapewright_schemas::event::Offset;

/// How much of a processor the reader takes.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    share: u32,
    // What may still be taken, in microseconds of a processor; negative where too much was.
    left: i64,
    // How much this thread had taken, and when, at the last look.
    spent: Duration,
    settled: Offset,
    // How long the tapes that are written were at the last look at them.
    bytes: Option<(Offset, u64)>,
    is_busy: bool,
    // Whether there was a writer since this thread started, and whether that was reported.
    has_writer: bool,
    has_stepped_back: bool,
}

/// How much of a processor is taken beside a busy recorder: one part of so many.
const SHARE: u32 = 200;
/// How much is saved at most, in microseconds of a processor: what a small recording needs to be
/// read at once.
const MOST_SAVED: i64 = 10_000;
/// How often it is looked at how fast the tapes grow.
pub(super) const LOOK: Duration = Duration::from_millis(250);
/// A recorder that writes more than so many bytes a second is busy.
const BUSY_BYTES: u64 = 512 << 10;

impl Default for Pace {
    fn default() -> Self {
        Self::of(SHARE)
    }
}

impl Pace {
    /// Takes one part of so many beside a busy recorder.
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

    /// Takes nothing beside a recorder of which it is never known whether it is busy.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self {
            left: i64::MIN / 2,
            bytes: Some((Offset(u64::MAX), 0)),
            ..Self::of(SHARE)
        }
    }

    /// Takes into account that this thread has taken so much of a processor by now.
    pub(super) fn settle(&mut self, now: Offset, spent: Duration) {
        let micros = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
        let passed = now.0.saturating_sub(self.settled.0) / u64::from(self.share);
        let earned = i64::try_from(passed).unwrap_or(i64::MAX);
        let taken = micros(spent.saturating_sub(self.spent));
        self.left = self.left.saturating_add(earned).min(MOST_SAVED) - taken;
        (self.spent, self.settled) = (spent, now);
    }

    /// Whether it is to be looked at how long the tapes are.
    pub(super) fn is_due(&self, now: Offset) -> bool {
        let is_old = |at: Offset| now.0.saturating_sub(at.0) >= micros(LOOK);
        self.bytes.is_none_or(|(at, _)| is_old(at))
    }

    /// Takes into account how long the tapes that are written are by now; `None` where nobody
    /// writes any.
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

    /// Whether this thread has to stand behind all others from now on: told once, when there is a
    /// recorder. A thread that has stepped back cannot come forward again.
    pub(super) fn steps_back(&mut self) -> bool {
        let is_due = self.has_writer && !self.has_stepped_back;
        self.has_stepped_back |= is_due;
        is_due
    }

    /// Whether what is there may be read on now.
    pub(super) fn may_read(&self) -> bool {
        !self.is_busy || self.left > 0
    }

    /// Whether the recorder is busy, as far as that is known.
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
        // It reads a millisecond at a time, whenever it may, and looks a thousand times a second.
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
        // Its writer has gone.
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
