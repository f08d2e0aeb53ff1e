//! What happens, as a stream of server-sent events.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::ReusableBoxFuture;

use crate::http::body::BodyError;

/// A body that never ends by itself: every event from now on.
pub(crate) struct Events {
    next: ReusableBoxFuture<'static, (Next, Receiver<Arc<str>>)>,
}

/// How often a stream on which nothing happens says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);
/// How much is put into one frame, in bytes.
const FRAME_BYTES: usize = 64 * 1024;

enum Next {
    End,
    Text(String),
}

impl Events {
    pub(crate) fn new(receiver: Receiver<Arc<str>>) -> Self {
        // At once, so that a client knows that it is heard.
        let hello = async { (Next::Text(": listening\n\n".to_owned()), receiver) };
        Self {
            next: ReusableBoxFuture::new(hello),
        }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Poll::Ready((next, receiver)) = self.next.poll(context) else {
            return Poll::Pending;
        };
        self.next.set(next_of(receiver));
        Poll::Ready(match next {
            Next::End => None,
            Next::Text(text) => Some(Ok(Frame::data(text.into()))),
        })
    }
}

/// The next events, as many as there are; or that there are none.
async fn next_of(mut receiver: Receiver<Arc<str>>) -> (Next, Receiver<Arc<str>>) {
    let mut text = match tokio::time::timeout(ALIVE, receiver.recv()).await {
        Err(_) => return (Next::Text(": alive\n\n".to_owned()), receiver),
        Ok(Err(RecvError::Closed)) => return (Next::End, receiver),
        Ok(Err(RecvError::Lagged(count))) => missed(count),
        Ok(Ok(text)) => text.as_ref().to_owned(),
    };
    while text.len() < FRAME_BYTES {
        match receiver.try_recv() {
            Ok(one) => text.push_str(&one),
            Err(TryRecvError::Lagged(count)) => text.push_str(&missed(count)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
    }
    (Next::Text(text), receiver)
}

/// A listener was too slow.
fn missed(count: u64) -> String {
    format!("data: {{\"event\":\"missed\",\"count\":{count}}}\n\n")
}
