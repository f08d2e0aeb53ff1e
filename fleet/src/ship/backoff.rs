//! Decides when an unavailable store is tried again.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use crate::clock::Stopwatch;

/// The time until the second try, at most.
const FIRST: Duration = Duration::from_millis(500);
/// The time between two tries, at most.
const LONGEST: Duration = Duration::from_secs(60);

/// Increasing delays with jitter, so that a thousand shippers do not return at the same time.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// Since when it is unavailable, and the start and length of the current delay.
    away: Option<(Stopwatch, Stopwatch, Duration)>,
    failures: u32,
}

impl Backoff {
    /// Notes a failure. Returns the delay.
    pub(crate) fn failed(&mut self) -> Duration {
        let most = FIRST
            .saturating_mul(1 << self.failures.min(10))
            .min(LONGEST);
        self.failures += 1;
        // Between a half and all of it.
        let wait = most / 2 + most.mul_f64(chance() / 2.0);
        let since = self.away.map_or_else(Stopwatch::start, |(since, ..)| since);
        self.away = Some((since, Stopwatch::start(), wait));
        wait
    }

    /// Notes a success. Returns how long there was none, after a failure.
    pub(crate) fn went_well(&mut self) -> Option<Duration> {
        self.failures = 0;
        self.away.take().map(|(since, ..)| since.elapsed())
    }

    /// Whether the delay is over.
    pub(crate) fn is_over(&self) -> bool {
        self.away
            .is_none_or(|(_, waits, wait)| waits.elapsed() >= wait)
    }

    /// The rest of the delay.
    pub(crate) fn left(&self) -> Duration {
        self.away.map_or(Duration::ZERO, |(_, waits, wait)| {
            wait.saturating_sub(waits.elapsed())
        })
    }

    /// How long it has been unavailable.
    pub(crate) fn away(&self) -> Duration {
        self.away
            .map_or(Duration::ZERO, |(since, ..)| since.elapsed())
    }
}

/// A number from 0 to 1 that differs between processes and calls. The standard library's hash keys
/// are random, which is sufficient.
fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_longer_each_time_and_never_too_long() {
        let mut backoff = Backoff::default();
        assert!(backoff.is_over());
        let mut most = FIRST;
        for _ in 0..100 {
            let wait = backoff.failed();
            assert!(wait >= most / 2 && wait <= most, "{wait:?} of {most:?}");
            assert!(!backoff.is_over());
            most = (most * 2).min(LONGEST);
        }
        assert!(backoff.went_well().is_some());
        assert!(backoff.is_over() && backoff.went_well().is_none());
        assert!(backoff.failed() <= FIRST);
    }
}
