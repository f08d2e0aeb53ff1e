//! Joins short pieces, so that they are sent in one cheaper system call.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use tapewright_schemas::slices::Part as _;

/// A connection that joins short pieces before it writes them: a head and a small body. Passing a
/// list of them to the kernel costs more than copying them.
pub(crate) struct Joined<S>(pub(crate) S);

/// The maximum length of joined pieces, in bytes.
const SHORT: usize = 2 * 1024;

impl<S: AsyncRead + Unpin> AsyncRead for Joined<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Joined<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut joined = [0; SHORT];
        let mut rest = joined.as_mut_slice();
        for slice in slices {
            let Some((place, behind)) = rest.split_at_mut_checked(slice.len()) else {
                return Pin::new(&mut self.0).poll_write_vectored(context, slices);
            };
            place.copy_from_slice(slice);
            rest = behind;
        }
        let len = SHORT - rest.len();
        let bytes = joined.part(..len);
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// Accepts a limited number of bytes at once, and records each write.
    struct Socket {
        room: usize,
        writes: Vec<(bool, Vec<u8>)>,
    }

    impl AsyncWrite for Socket {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let len = bytes.len().min(self.room);
            self.writes.push((false, bytes[..len].to_vec()));
            Poll::Ready(Ok(len))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let bytes: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
            let len = bytes.len();
            self.writes.push((true, bytes));
            Poll::Ready(Ok(len))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    fn written(room: usize, pieces: &[&[u8]]) -> (usize, Vec<(bool, Vec<u8>)>) {
        let writes = Vec::new();
        let mut joined = Joined(Socket { room, writes });
        let slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        let context = &mut Context::from_waker(Waker::noop());
        match Pin::new(&mut joined).poll_write_vectored(context, &slices) {
            Poll::Ready(Ok(len)) => (len, joined.0.writes),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn short_pieces_leave_as_one_and_long_ones_as_they_are() {
        let (len, writes) = written(100, &[b"head", b"", b"body"]);
        assert_eq!((len, writes), (8, vec![(false, b"headbody".to_vec())]));
        // The caller must write the rest again.
        let (len, writes) = written(5, &[b"head", b"body"]);
        assert_eq!((len, writes), (5, vec![(false, b"headb".to_vec())]));
        for (more, listed) in [(SHORT - 4, false), (SHORT - 3, true)] {
            let body = vec![b'x'; more];
            let (len, writes) = written(usize::MAX, &[b"head", &body]);
            assert_eq!((len, writes.len()), (4 + more, 1));
            assert_eq!(writes[0], (listed, [b"head", body.as_slice()].concat()));
        }
    }
}
