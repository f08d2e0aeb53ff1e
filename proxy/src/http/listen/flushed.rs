//! What was written to a client leaves us before its connection is broken off.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::seats::Busy;
use crate::http::body::BodyError;

/// Counts the times at which nothing of a connection was left in our hands.
///
/// A body that breaks off makes its connection fail at once, with what is still in its
/// buffers: the last words of a server that died would be lost. Such a body waits here.
#[derive(Clone, Debug, Default)]
pub(super) struct Flushed(Arc<State>);

#[derive(Debug, Default)]
struct State {
    times: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
    // Who serves the connection.
    server: Mutex<Option<Waker>>,
}

impl Flushed {
    /// How often it was so far.
    pub(super) fn times(&self) -> u64 {
        self.0.times.load(Ordering::Acquire)
    }

    /// Ready once it was more often than so many `times`.
    fn poll_after(&self, times: u64, context: &Context<'_>) -> Poll<()> {
        let mut waiting = lock(&self.0.waiting);
        if self.times() > times {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    /// Has the connection flushed once more. On HTTP/2 it rests while its streams have
    /// nothing to send, and would be flushed only with the next frame that comes.
    fn ask(&self) {
        if let Some(server) = &*lock(&self.0.server) {
            server.wake_by_ref();
        }
    }

    fn served_by(&self, waker: &Waker) {
        let mut server = lock(&self.0.server);
        match &mut *server {
            Some(known) => known.clone_from(waker),
            None => *server = Some(waker.clone()),
        }
    }

    fn tell(&self) {
        self.0.times.fetch_add(1, Ordering::AcqRel);
        let waiting = std::mem::take(&mut *lock(&self.0.waiting));
        waiting.into_iter().for_each(Waker::wake);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A body that breaks off only when all that came before has left us.
pub(super) struct Delivered<B> {
    body: B,
    flushed: Flushed,
    // Why it breaks off, and how often the connection was flushed until then.
    broken: Option<(BodyError, u64)>,
    // The request is under way as long as its answer is.
    _busy: Busy,
}

impl<B> Delivered<B> {
    pub(super) fn new(body: B, busy: Busy) -> Self {
        Self {
            body,
            flushed: busy.seat().flushed.clone(),
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
                    self.broken = Some((error, self.flushed.times()));
                    self.flushed.ask();
                }
                other => return Poll::Ready(other),
            }
        }
        if let Some((_, times)) = &self.broken {
            ready!(self.flushed.poll_after(*times, context));
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

/// A connection that says when it is flushed.
pub(super) struct Watched<S> {
    stream: S,
    flushed: Flushed,
}

impl<S> Watched<S> {
    pub(super) fn new(stream: S, flushed: Flushed) -> Self {
        Self { stream, flushed }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            self.flushed.served_by(context.waker());
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.flushed.tell();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::seats::Seats;
    use super::*;

    /// A body of one piece that breaks off.
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
        let seat = runtime.block_on(Seats::new(1).take(1)).unwrap();
        let flushed = seat.flushed.clone();
        let mut body = Delivered::new(Breaks(Some("x".into())), seat.begin());
        let context = &mut Context::from_waker(Waker::noop());
        let mut next = || Pin::new(&mut body).poll_frame(context);
        // It was flushed before; that does not count.
        flushed.tell();
        assert!(matches!(next(), Poll::Ready(Some(Ok(_)))));
        assert!(next().is_pending());
        assert!(next().is_pending());
        flushed.tell();
        assert!(matches!(next(), Poll::Ready(Some(Err(_)))));
        assert!(!body.is_end_stream());
        drop(body);
        assert!(!seat.is_idle(), "the last of it has not left");
        flushed.tell();
        assert!(seat.is_idle());
    }
}
