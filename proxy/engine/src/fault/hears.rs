//! Who hears of faults that come, change and go.

use std::fmt;
use std::sync::OnceLock;

/// Somebody who is called, once there is somebody.
#[derive(Default)]
pub(super) struct Hears(OnceLock<Box<dyn Fn() + Send + Sync>>);

impl fmt::Debug for Hears {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Hears").finish_non_exhaustive()
    }
}

impl Hears {
    /// The first one stays.
    pub(super) fn set(&self, tell: impl Fn() + Send + Sync + 'static) {
        drop(self.0.set(Box::new(tell)));
    }

    /// Calls whoever hears.
    pub(super) fn tell(&self) {
        if let Some(tell) = self.0.get() {
            tell();
        }
    }
}
