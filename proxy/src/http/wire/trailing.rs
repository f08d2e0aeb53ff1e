//! A body whose trailers are written without hyper.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{Wire, say};

/// A chunked body. Hyper only forwards trailers that the head announced, and to a client only if it
/// asked for them. They are hidden from hyper: when everything before has been written, they
/// replace the last chunk.
#[derive(Debug)]
pub(crate) struct Trailing<B> {
    body: B,
    // The connection, if it uses chunks.
    wire: Option<Wire>,
    // The last chunk, and the number of flushes when the trailers arrived.
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
