//! Ensures that data for a client is sent before its connection is cut.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::slots::Busy;
use crate::http::body::BodyError;
use crate::http::wire::Wire;

/// A body that is only cut off after all data before has been sent.
pub(super) struct Delivered<B> {
    body: B,
    wire: Wire,
    // Why it is cut off, and the number of flushes at that time.
    broken: Option<(BodyError, u64)>,
    // The request is in progress as long as its answer.
    _busy: Busy,
}

impl<B> Delivered<B> {
    pub(super) fn new(body: B, busy: Busy) -> Self {
        Self {
            body,
            wire: busy.slot().wire.clone(),
            broken: None,
            _busy: busy,
        }
    }
}

impl<B: Body<Data = Bytes, Error = BodyError> + Unpin> Body for Delivered<B> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.broken.is_none() {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Err(error)) => {
                    self.broken = Some((error, self.wire.times()));
                    self.wire.ask();
                }
                other => return Poll::Ready(other),
            }
        }
        if let Some((_, times)) = &self.broken {
            ready!(self.wire.poll_after(*times, context));
        }
        Poll::Ready(self.broken.take().map(|(error, _)| Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        self.broken.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::super::slots::ConnectionSlots;
    use super::*;

    /// A body of one piece that is then cut off.
    struct Breaks(Option<Bytes>);

    impl Body for Breaks {
        type Data = Bytes;
        type Error = BodyError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
            let piece = self.0.take().map(|piece| Ok(Frame::data(piece)));
            Poll::Ready(piece.or_else(|| Some(Err("broken".into()))))
        }
    }

    #[test]
    fn a_body_breaks_off_when_what_came_before_has_left() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let slot = runtime.block_on(ConnectionSlots::new(1).take(1)).unwrap();
        let wire = slot.wire.clone();
        let mut body = Delivered::new(Breaks(Some("x".into())), slot.begin());
        let context = &mut Context::from_waker(Waker::noop());
        let mut next = || Pin::new(&mut body).poll_frame(context);
        // An earlier flush does not count.
        wire.tell();
        assert!(matches!(next(), Poll::Ready(Some(Ok(_)))));
        assert!(next().is_pending());
        assert!(next().is_pending());
        wire.tell();
        assert!(matches!(next(), Poll::Ready(Some(Err(_)))));
        assert!(!body.is_end_stream());
        drop(body);
        assert!(!slot.is_idle(), "the last of it has not left");
        wire.tell();
        assert!(slot.is_idle());
    }
}
