//! The timeout for pauses within a body.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// The sender of a body paused for too long in the middle of it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the body stalled for {} s", after.as_secs_f32())]
pub(crate) struct Stalled {
    after: Duration,
}

/// Measures the time since the last data. It does not count while no data is requested: then the
/// receiver is the slow side.
pub(super) struct Stall {
    limit: Duration,
    silence: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            limit,
            silence: None,
        }
    }

    /// Notes that data arrived.
    pub(super) fn moved(&mut self) {
        self.silence = None;
    }

    /// Ready after too long a pause.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Stalled> {
        let after = self.limit;
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(after)));
        silence.as_mut().poll(context).map(|()| Stalled { after })
    }
}
