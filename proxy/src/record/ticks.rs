//! Telling a recorder the time while nothing happens.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

use super::Recorder;
use crate::clock::Clock;

/// Tells a recorder the time for as long as it lives, when its judge wants to know.
#[derive(Debug)]
pub(crate) struct Ticks {
    // Its end ends the thread.
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
        // Without it hangs are named when something happens, and at the end.
        Self {
            _stop: thread.is_ok().then_some(stop),
        }
    }
}
