//! A callback for faults that are added, changed or removed.

use std::fmt;
use std::sync::OnceLock;

/// A callback, once one is set.
#[derive(Default)]
pub(super) struct ChangeListener(OnceLock<Box<dyn Fn() + Send + Sync>>);

impl fmt::Debug for ChangeListener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ChangeListener").finish_non_exhaustive()
    }
}

impl ChangeListener {
    /// Sets the callback, unless one is already set.
    pub(super) fn set(&self, tell: impl Fn() + Send + Sync + 'static) {
        drop(self.0.set(Box::new(tell)));
    }

    /// Calls it, if it is set.
    pub(super) fn tell(&self) {
        if let Some(tell) = self.0.get() {
            tell();
        }
    }
}
