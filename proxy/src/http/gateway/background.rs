//! Runs a gateway on a separate thread, for callers that have other work.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{Builder, JoinHandle};

use tokio::sync::mpsc;

use super::run::{ServeError, serve_until};
use super::{Outcome, Settings};
use crate::clock::Clock;
use crate::http::listen::ReachableAt;
use crate::record::Recorder;

/// A gateway that serves until this is dropped; dropping waits for its end.
pub struct Background {
    reached: ReachableAt,
    // A value, or dropping the sender, ends the gateway.
    stop: Option<mpsc::Sender<i32>>,
    thread: Option<JoinHandle<Result<Outcome, ServeError>>>,
}

impl Background {
    /// Starts a gateway, and waits until clients can connect. It does not handle signals: they are
    /// left to the caller, and so is the recorder, which is left running.
    pub fn start(
        settings: Settings,
        recorder: &Arc<Recorder>,
        clock: Clock,
    ) -> Result<Self, ServeError> {
        let (stop, ends) = mpsc::channel(1);
        let (tell, told) = sync_channel(1);
        let recorder = Arc::clone(recorder);
        let serve = move || {
            serve_until(settings, &recorder, clock, ends, |reached, _| {
                // The channel has space for its only value.
                tell.try_send(reached.clone()).ok();
                Ok(())
            })
        };
        let thread = Builder::new().name("gateway".to_owned()).spawn(serve)?;
        match told.recv() {
            Ok(reached) => Ok(Self {
                reached,
                stop: Some(stop),
                thread: Some(thread),
            }),
            // It ended before it started.
            Err(_) => Err(match thread.join() {
                Ok(Err(error)) => error,
                _ => io::Error::other("the gateway ended at once").into(),
            }),
        }
    }

    /// How it is reached.
    #[must_use]
    pub fn reached(&self) -> &ReachableAt {
        &self.reached
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Its errors are on its tape.
            thread.join().ok();
        }
    }
}
