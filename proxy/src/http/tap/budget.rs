//! The memory limit of all taps together, for bodies in progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The remaining memory for all taps, in bytes.
#[derive(Debug)]
pub(crate) struct Budget(AtomicUsize);

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }
}

/// The memory of one tap. Returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    taken: usize,
}

impl Share {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self { budget, taken: 0 }
    }

    /// Grows or shrinks to `bytes`; returns false if not enough is left.
    pub(crate) fn resize(&mut self, bytes: usize) -> bool {
        let left = &self.budget.0;
        if bytes <= self.taken {
            left.fetch_add(self.taken - bytes, Ordering::Relaxed);
            self.taken = bytes;
            return true;
        }
        let more = bytes - self.taken;
        let take = |left: usize| left.checked_sub(more);
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        if taken.is_ok() {
            self.taken = bytes;
        }
        taken.is_ok()
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_gives_back_another_may_take() {
        let budget = Arc::new(Budget::new(100));
        let mut one = Share::new(Arc::clone(&budget));
        let mut other = Share::new(Arc::clone(&budget));
        assert!(one.resize(80));
        assert!(!other.resize(30));
        assert!(one.resize(60));
        assert!(other.resize(40));
        assert!(!one.resize(61));
        drop(other);
        assert!(one.resize(100));
        drop(one);
        assert_eq!(budget.0.load(Ordering::Relaxed), 100);
    }
}
