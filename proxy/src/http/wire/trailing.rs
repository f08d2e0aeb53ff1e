//! A body whose trailers are written past hyper.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{Wire, say};

/// A body in chunks. Hyper passes on only those trailers that the head announced, and to a
/// client only where that asked for them. It sees none: when all that came before has left, they
/// take the place of the last chunk.
#[derive(Debug)]
pub(crate) struct Trailing<B> {
    body: B,
    // The connection, where it has chunks.
    wire: Option<Wire>,
    // The last chunk, and how often the connection was flushed when the trailers came.
    last: Option<(Bytes, u64)>,
    is_over: bool,
}

impl<B> Trailing<B> {
    pub(crate) fn new(body: B, wire: Option<Wire>) -> Self {
        Self {
            body,
            wire,
            last: None,
            is_over: false,
        }
    }

    pub(crate) fn into_inner(self) -> B {
        self.body
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Trailing<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Self {
            body,
            wire,
            last,
            is_over,
        } = &mut *self;
        if *is_over {
            return Poll::Ready(None);
        }
        let Some(wire) = wire else {
            return Pin::new(body).poll_frame(context);
        };
        if last.is_none() {
            let frame = ready!(Pin::new(body).poll_frame(context));
            let Some(Ok(Some(trailers))) = frame
                .as_ref()
                .map(|frame| frame.as_ref().map(Frame::trailers_ref))
            else {
                return Poll::Ready(frame);
            };
            *last = say::last_chunk(trailers).map(|last| (last, wire.times()));
            wire.ask();
        }
        if let Some((_, times)) = last {
            ready!(wire.poll_after(*times, context));
        }
        if let Some((last, _)) = last.take() {
            wire.trail(last);
        }
        *is_over = true;
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.last.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
