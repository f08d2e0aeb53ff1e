//! Growing files are checked from time to time; another thread can end the wait.

use std::io;
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use crate::system::Readiness;

/// Wakes another thread from a wait.
#[derive(Debug, Default)]
pub struct Wakeup {
    is_woken: Mutex<bool>,
    changed: Condvar,
}

impl Wakeup {
    /// Uses no resources of the system.
    pub fn new() -> io::Result<Self> {
        Ok(Self::default())
    }

    /// Ends the current wait, or the next one.
    pub fn wake(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }

    /// Waits for it, or for the timeout; returns whether it was woken, and resets that.
    fn wait(&self, most: Option<Duration>) -> bool {
        let is_asleep = |woken: &mut bool| !*woken;
        let mut woken = match most {
            Some(most) => {
                let waited = self
                    .changed
                    .wait_timeout_while(self.lock(), most, is_asleep);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self
                .changed
                .wait_while(self.lock(), is_asleep)
                .unwrap_or_else(PoisonError::into_inner),
        };
        std::mem::take(&mut *woken)
    }

    /// Resets it.
    #[cfg(test)]
    pub(crate) fn clear(&self) {
        *self.lock() = false;
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// This system is not asked for notifications.
#[derive(Debug)]
pub(crate) struct FileWatcher;

impl FileWatcher {
    pub(crate) fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "elsewhere the system is asked")]
    pub(crate) fn add(&mut self, _path: &Path) {}

    /// Whether the system notifies at all.
    #[expect(clippy::unused_self, reason = "elsewhere the system is asked")]
    pub(crate) fn is_told(&self) -> bool {
        false
    }

    #[expect(clippy::unused_self, reason = "elsewhere the system is asked")]
    pub(crate) fn came(&self) -> bool {
        true
    }
}

/// Waits for a wake-up by another thread, or the timeout.
pub(crate) fn wait(_: &FileWatcher, wakeup: Option<&Wakeup>, most: Option<Duration>) -> Readiness {
    let is_woken = match (wakeup, most) {
        (Some(wakeup), most) => wakeup.wait(most),
        (None, Some(most)) => {
            sleep(most);
            false
        }
        // Nothing could end the wait.
        (None, None) => false,
    };
    Readiness {
        has_grown: false,
        is_woken,
    }
}
