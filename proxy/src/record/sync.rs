//! Group commit: many writers, one `fdatasync`.

use std::fs::File;
use std::sync::{Condvar, Mutex, PoisonError};

/// Lets writers wait until what they wrote is on the disk, with one sync for all that
/// wait at the same time.
#[derive(Debug, Default)]
pub(crate) struct SyncGate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    // How many bytes of the tape are known to be on the disk.
    synced: u64,
    // How many bytes had been written when the running sync began.
    syncing: Option<u64>,
    // How many bytes have been written.
    written: u64,
}

impl SyncGate {
    /// Returns once the first `written` bytes of `file` are on the disk, or the disk has
    /// failed: traffic goes on either way.
    pub(crate) fn wait(&self, file: &File, written: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.written = state.written.max(written);
        while state.synced < written {
            if state.syncing.is_some() {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let goal = state.written;
            state.syncing = Some(goal);
            drop(state);
            // A failed sync shows in the next write or at the end; it must not stop us.
            drop(file.sync_data());
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.synced = state.synced.max(goal);
            state.syncing = None;
            self.changed.notify_all();
        }
    }
}
