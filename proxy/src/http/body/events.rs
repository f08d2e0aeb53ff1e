//! Server-sent events: a body that ends with its source, and regularly sends a sign of life.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body::{Body, Frame};
use tokio_util::sync::ReusableBoxFuture;

use super::{BodyError, Outbound};

/// A source of events, piece by piece.
pub(crate) trait EventSource: Send + Sized + 'static {
    /// The next piece when available; `None` at the end. If there is none for [`ALIVE`], it returns
    /// [`alive`].
    fn next(self) -> impl Future<Output = (Option<Bytes>, Self)> + Send;
}

/// A stream of server-sent events.
pub(crate) struct EventStream<T> {
    next: ReusableBoxFuture<'static, (Option<Bytes>, T)>,
}

/// The interval of comments on a stream without events.
pub(crate) const ALIVE: Duration = Duration::from_secs(15);

/// A comment as a sign of life.
pub(crate) fn alive() -> Bytes {
    Bytes::from_static(b": alive\n\n")
}

impl<T: EventSource> EventStream<T> {
    pub(crate) fn new(tells: T) -> Self {
        // Sent immediately, so that the client knows that it is connected.
        let hello = async { (Some(Bytes::from_static(b": listening\n\n")), tells) };
        Self {
            next: ReusableBoxFuture::new(hello),
        }
    }

    /// An answer with the stream as its body.
    pub(crate) fn answer(self) -> Response<Outbound> {
        let mut response = Response::new(Outbound::streaming(self));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

impl<T: EventSource> Body for EventStream<T> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Poll::Ready((next, tells)) = self.next.poll(context) else {
            return Poll::Pending;
        };
        self.next.set(tells.next());
        Poll::Ready(next.map(|text| Ok(Frame::data(text))))
    }
}
