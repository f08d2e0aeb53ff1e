//! The only place that reads a clock.

use std::time::{Duration, Instant, SystemTime};

use tapewright_schemas::event::Offset;

/// The runtime's clock, on which its timers run. Only for comparison with it, never for times on a
/// tape.
#[expect(
    clippy::disallowed_methods,
    reason = "how long connections idle, where no recording's clock is at hand"
)]
pub(crate) fn runtime_now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Wall time, for the validity of certificates. Not for recordings.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "certificates end by the time of the day"
)]
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// The processor time of the calling thread so far.
pub(crate) fn processor_time() -> Duration {
    crate::system::process::processor_time()
}

/// The clock of one recording: offsets since its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    /// Wall time of offset zero.
    pub created: SystemTime,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the one reading that starts a recording"
    )]
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            created: SystemTime::now(),
        }
    }

    /// The same clock, advanced: for events that follow something else.
    #[must_use]
    pub fn put_forward(mut self, by: Duration) -> Self {
        // Limited by the range of the system's clock.
        self.start = self.start.checked_sub(by).unwrap_or(self.start);
        self
    }

    /// The time since the start.
    #[must_use]
    pub fn now(&self) -> Offset {
        Offset(u64::try_from(self.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// The time since the start, as a duration.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one reading per chunk")]
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(self.start)
    }
}
