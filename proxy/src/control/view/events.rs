//! Events as a stream of server-sent events.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::http::body::events::{ALIVE, EventSource, EventStream, alive};

/// Every event from now on.
pub(crate) type Events = EventStream<Receiver<Arc<str>>>;

/// The maximum size of a frame, in bytes.
const FRAME_BYTES: usize = 64 * 1024;

impl EventSource for Receiver<Arc<str>> {
    /// All available events, or a sign of life if there are none for a while.
    async fn next(mut self) -> (Option<Bytes>, Self) {
        let mut text = match tokio::time::timeout(ALIVE, self.recv()).await {
            Err(_) => return (Some(alive()), self),
            Ok(Err(RecvError::Closed)) => return (None, self),
            Ok(Err(RecvError::Lagged(count))) => missed(count),
            Ok(Ok(text)) => text.as_ref().to_owned(),
        };
        while text.len() < FRAME_BYTES {
            match self.try_recv() {
                Ok(one) => text.push_str(&one),
                Err(TryRecvError::Lagged(count)) => text.push_str(&missed(count)),
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        (Some(text.into()), self)
    }
}

/// The event for a listener that was too slow.
fn missed(count: u64) -> String {
    format!("data: {{\"event\":\"missed\",\"count\":{count}}}\n\n")
}
