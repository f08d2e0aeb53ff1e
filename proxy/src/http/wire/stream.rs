//! The connection below hyper.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Wire;
use super::say::LAST_CHUNK;

/// A connection that reports its flushes, and writes what hyper does not support.
pub(crate) struct Wired<S> {
    stream: S,
    wire: Wire,
    // Written before anything else.
    leaving: Bytes,
}

impl<S> Wired<S> {
    pub(crate) fn new(stream: S, wire: Wire) -> Self {
        Self {
            stream,
            wire,
            leaving: Bytes::new(),
        }
    }
}

impl<S: AsyncWrite + Unpin> Wired<S> {
    /// Writes what must be written first.
    fn poll_leave(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.leaving.has_remaining() {
            let stream = Pin::new(&mut self.stream);
            match ready!(stream.poll_write(context, &self.leaving))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.leaving.advance(written),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// The number of bytes to be written that are replaced by others.
    fn replaced(&mut self, slices: &[IoSlice<'_>]) -> Option<usize> {
        let last = self.wire.take_trailers()?;
        // They wait for this write. If it is different, the body is not chunked.
        let bytes = slices.iter().flat_map(|slice| slice.iter());
        bytes.take(LAST_CHUNK.len()).eq(LAST_CHUNK).then(|| {
            self.leaving = last;
            LAST_CHUNK.len()
        })
    }

    fn poll_write_all(
        &mut self,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Option<Poll<io::Result<usize>>> {
        match self.poll_leave(context) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
            Poll::Pending => return Some(Poll::Pending),
        }
        // What cannot be written immediately is written before anything else.
        let replaced = self.replaced(slices)?;
        Some(match self.poll_leave(context) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(replaced)),
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wired<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            self.wire.served_by(context.waker());
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wired<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(done) = self.poll_write_all(context, &[IoSlice::new(bytes)]) {
            return done;
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(done) = self.poll_write_all(context, slices) {
            return done;
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_leave(context))?;
        // Hyper has no output of its own left here, so this is between two messages.
        while let Some(interims) = self.wire.take_interims() {
            self.leaving = interims;
            ready!(self.poll_leave(context))?;
        }
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.wire.tell();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_leave(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use http::{HeaderMap, HeaderValue, StatusCode};

    use super::super::Unread;
    use super::*;

    /// Accepts a limited number of bytes at once, and none every other time.
    struct Narrow {
        room: usize,
        is_tired: bool,
        taken: Vec<u8>,
    }

    impl AsyncWrite for Narrow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.is_tired = !self.is_tired;
            if self.is_tired {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            let len = bytes.len().min(self.room);
            self.taken.extend_from_slice(&bytes[..len]);
            Poll::Ready(Ok(len))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn wired(room: usize, wire: &Wire) -> Wired<Narrow> {
        let narrow = Narrow {
            room,
            is_tired: false,
            taken: Vec::new(),
        };
        Wired::new(narrow, wire.clone())
    }

    /// Writes like hyper: everything, however many writes it takes, and then flushes.
    fn write(stream: &mut Wired<Narrow>, bytes: &[u8]) {
        let context = &mut Context::from_waker(Waker::noop());
        let mut rest = bytes;
        while !rest.is_empty() {
            let (first, second) = rest.split_at(rest.len() / 2);
            let slices = [IoSlice::new(&[]), IoSlice::new(first), IoSlice::new(second)];
            if let Poll::Ready(len) = Pin::new(&mut *stream).poll_write_vectored(context, &slices) {
                rest = &rest[len.unwrap()..];
            }
        }
        while Pin::new(&mut *stream).poll_flush(context).is_pending() {}
    }

    fn text(stream: &Wired<Narrow>) -> String {
        String::from_utf8(stream.stream.taken.clone()).unwrap()
    }

    fn trailers() -> Bytes {
        let mut fields = HeaderMap::new();
        fields.insert("x-end", HeaderValue::from_static("1"));
        super::super::say::last_chunk(&fields).unwrap()
    }

    #[test]
    fn trailers_take_the_place_of_the_last_chunk_however_slowly_it_leaves() {
        for room in 1..40 {
            let wire = Wire::default();
            let mut stream = wired(room, &wire);
            write(&mut stream, b"HEAD\r\n\r\n5\r\n0\r\n\r\n\r\n");
            wire.trail(trailers());
            write(&mut stream, b"0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n0\r\n\r\n");
            assert_eq!(
                text(&stream),
                "HEAD\r\n\r\n5\r\n0\r\n\r\n\r\n0\r\nx-end: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n0\r\n\r\n",
                "{room}"
            );
        }
    }

    #[test]
    fn trailers_of_a_body_without_chunks_are_forgotten() {
        for next in ["HTTP/1.1 200 OK\r\n\r\n", "0\r\n", "", "\r\n0\r\n\r\n"] {
            let wire = Wire::default();
            let mut stream = wired(100, &wire);
            wire.trail(trailers());
            write(&mut stream, next.as_bytes());
            wire.interims();
            write(&mut stream, b"0\r\n\r\n");
            assert_eq!(text(&stream), format!("{next}0\r\n\r\n"));
        }
    }

    #[test]
    fn interim_responses_leave_at_a_flush_and_never_once_the_response_is_there() {
        let fields = HeaderMap::new();
        for room in [1, 7, 100] {
            let wire = Wire::default();
            let mut stream = wired(room, &wire);
            let interims = wire.interims();
            interims.pass(StatusCode::PROCESSING, &fields).unwrap();
            let context = &Context::from_waker(Waker::noop());
            interims.close();
            assert!(interims.poll_passed(context).is_pending());
            write(&mut stream, b"");
            assert!(interims.poll_passed(context).is_ready());
            // Too late, also if the next exchange has started.
            interims.pass(StatusCode::EARLY_HINTS, &fields).unwrap();
            let next = wire.interims();
            interims.pass(StatusCode::EARLY_HINTS, &fields).unwrap();
            interims.close();
            next.pass(StatusCode::CONTINUE, &fields).unwrap();
            write(&mut stream, b"");
            assert_eq!(
                text(&stream),
                "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
            );
        }
    }

    #[test]
    fn what_nobody_reads_is_bounded() {
        let wire = Wire::default();
        let interims = wire.interims();
        let mut fields = HeaderMap::new();
        fields.insert("link", HeaderValue::from_str(&"x".repeat(1_000)).unwrap());
        let pass = || interims.pass(StatusCode::EARLY_HINTS, &fields);
        let passed = std::iter::from_fn(|| pass().ok()).count();
        assert!((200..300).contains(&passed), "{passed}");
        assert_eq!(pass(), Err(Unread));
    }
}
