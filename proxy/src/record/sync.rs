//! Group commit: one `fdatasync` for many writers.

use std::fs::File;
use std::sync::{Condvar, Mutex, PoisonError};

/// Lets writers wait until their data is on the disk, with one sync for all that wait at the same
/// time.
#[derive(Debug, Default)]
pub(crate) struct SyncGate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    // The number of bytes of the tape known to be synced.
    synced: u64,
    // The number of bytes written when the current sync started.
    syncing: Option<u64>,
    // The number of bytes written.
    written: u64,
}

impl SyncGate {
    /// Returns when the first `written` bytes of `file` are synced, or the disk has failed: traffic
    /// continues either way.
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
            // A failed sync shows in the next write or at the end; it must not stop the traffic.
            drop(file.sync_data());
            state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.synced = state.synced.max(goal);
            state.syncing = None;
            self.changed.notify_all();
        }
    }
}
