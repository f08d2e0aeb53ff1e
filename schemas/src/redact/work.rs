//! Counts the bytes that searches read, in builds for tests, so that linear searches stay linear.

use std::cell::Cell;

thread_local! {
    static READ: Cell<u64> = const { Cell::new(0) };
}

/// Records that a search read this many bytes, wherever it may have to read the same ones again.
#[inline]
pub(super) fn read(bytes: usize) {
    if cfg!(debug_assertions) {
        READ.set(READ.get().saturating_add(bytes as u64));
    }
}

/// The number of bytes that this thread's searches have read since the last call. Always zero in a
/// release.
#[expect(clippy::must_use_candidate, reason = "asking begins anew")]
pub fn take() -> u64 {
    READ.take()
}
