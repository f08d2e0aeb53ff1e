//! When what was written to a client has left us.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Counts the times at which nothing of a connection was left in our hands.
///
/// A body that breaks off makes its connection fail at once, with what is still in its
/// buffers: the last words of a server that died would be lost. Such a body waits here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flushed(Arc<State>);

#[derive(Debug, Default)]
struct State {
    times: AtomicU64,
    waiting: Mutex<Vec<Waker>>,
}

impl Flushed {
    /// How often it was so far.
    pub(crate) fn times(&self) -> u64 {
        self.0.times.load(Ordering::Acquire)
    }

    /// Ready once it was more often than so many `times`.
    pub(crate) fn poll_after(&self, times: u64, context: &Context<'_>) -> Poll<()> {
        let mut waiting = self
            .0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.times() > times {
            return Poll::Ready(());
        }
        if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
            waiting.push(context.waker().clone());
        }
        Poll::Pending
    }

    fn tell(&self) {
        self.0.times.fetch_add(1, Ordering::AcqRel);
        let mut waiting = self
            .0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let waiting = std::mem::take(&mut *waiting);
        for waker in waiting {
            waker.wake();
        }
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
        Pin::new(&mut self.stream).poll_read(context, buffer)
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
