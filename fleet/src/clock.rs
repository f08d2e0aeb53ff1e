//! The only module that reads a clock.

use std::time::{Duration, Instant, SystemTime};

/// Wall time, for names and for people.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "names and entries tell the time of the day"
)]
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// The time since something began.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one reading that starts it")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since then.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one reading per question")]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(self.0)
    }
}

/// A time as RFC 3339 in UTC, to the millisecond.
#[must_use]
pub fn text(time: SystemTime) -> String {
    // A clock beyond the year 9999 is not usable.
    jiff::Timestamp::try_from(time).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// Parses RFC 3339.
#[must_use]
pub fn parse(text: &str) -> Option<SystemTime> {
    text.parse::<jiff::Timestamp>().ok().map(SystemTime::from)
}
