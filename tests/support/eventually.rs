//! Waiting for another thread or process.

use std::time::{Duration, Instant};

/// Asks again and again until it is so; false when it is not within the time.
#[must_use]
pub(crate) fn eventually(within: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + within;
    loop {
        if is_so() {
            return true;
        }
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
