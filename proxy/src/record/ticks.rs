//! Updates a recorder's time while there are no events.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

use super::Recorder;
use crate::clock::Clock;

/// Updates a recorder's time as long as it lives, if its judge needs it.
#[derive(Debug)]
pub(crate) struct Ticks {
    // Dropping it ends the thread.
    _stop: Option<SyncSender<()>>,
}

impl Ticks {
    pub(crate) fn start(recorder: &Arc<Recorder>, clock: Clock) -> Self {
        let Some(beat) = recorder.beat() else {
            return Self { _stop: None };
        };
        let (stop, stopped) = sync_channel(0);
        let recorder = Arc::clone(recorder);
        let thread = thread::Builder::new()
            .name("ticks".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(beat) == Err(RecvTimeoutError::Timeout) {
                    recorder.tick(clock.now());
                }
            });
        // Without the thread, hangs are only detected with the next event, and at the end.
        Self {
            _stop: thread.is_ok().then_some(stop),
        }
    }
}
