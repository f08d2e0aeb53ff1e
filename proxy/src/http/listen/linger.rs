//! Closing a connection so that its client can read the last answer.
//!
//! A request may be answered before all of it was read: it was refused, or its server does not want
//! the rest. If a connection with unread input is closed, the system resets it, and a client that is
//! still sending fails, or loses the part of the answer that it has not read yet. So the connection
//! is first closed towards the client only, and its input is discarded until the client closes it,
//! too (RFC 9112 §9.6).

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Method, Request, Version};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::slots::ConnectionSlot;
use crate::clock::runtime_now;

/// The limits for discarding input.
#[derive(Clone, Copy)]
struct Limits {
    /// How long to wait for more of it.
    pause: Duration,
    /// How long to discard it in total.
    longest: Duration,
    /// The maximum number of bytes.
    bytes: usize,
}

const LIMITS: Limits = Limits {
    pause: Duration::from_secs(5),
    longest: Duration::from_secs(30),
    bytes: 32 << 20,
};

/// The maximum number of bytes that are discarded at once.
const PIECE: usize = 16 * 1024;

/// How a connection is closed.
pub(super) struct Closing {
    slot: Arc<ConnectionSlot>,
    // The last request was for a tunnel, whose directions end independently.
    is_tunnel: AtomicBool,
    // It must not wait for its client.
    is_urgent: AtomicBool,
    // It waits for its client.
    is_lingering: AtomicBool,
}

impl Closing {
    /// A connection that waits for its client if that `can_wait`.
    pub(super) fn new(slot: Arc<ConnectionSlot>, can_wait: bool) -> Arc<Self> {
        Arc::new(Self {
            slot,
            is_tunnel: AtomicBool::new(false),
            is_urgent: AtomicBool::new(!can_wait),
            is_lingering: AtomicBool::new(false),
        })
    }

    /// Notes the beginning of a request.
    pub(super) fn begins<B>(&self, request: &Request<B>) {
        // On HTTP/2 a tunnel is one stream of several.
        let is_tunnel = *request.method() == Method::CONNECT;
        let is_alone = request.version() != Version::HTTP_2;
        self.is_tunnel
            .store(is_tunnel && is_alone, Ordering::Relaxed);
    }

    /// Whether the connection waits for its client. From now on it does not, so one that does can
    /// be ended.
    pub(super) fn hurry(&self) -> bool {
        self.is_urgent.store(true, Ordering::Relaxed);
        self.is_lingering.load(Ordering::Relaxed)
    }

    fn linger(&self, is_lingering: bool) {
        self.is_lingering.store(is_lingering, Ordering::Relaxed);
        self.slot.linger(is_lingering);
    }
}

/// A connection that is closed when its client has closed it, or at a limit.
pub(super) struct Lingering<S> {
    stream: S,
    closing: Arc<Closing>,
    // The client has closed its direction.
    has_ended: bool,
    limits: Limits,
    // What is left of them, after our direction was closed.
    left: Option<Left>,
}

struct Left {
    bytes: usize,
    end: Instant,
    pause: Duration,
    timer: Pin<Box<Sleep>>,
}

impl<S> Lingering<S> {
    pub(super) fn new(stream: S, closing: Arc<Closing>) -> Self {
        Self {
            stream,
            closing,
            has_ended: false,
            limits: LIMITS,
            left: None,
        }
    }
}

impl Left {
    fn of(limits: Limits) -> Self {
        let Limits {
            pause,
            longest,
            bytes,
        } = limits;
        let now = runtime_now();
        Self {
            bytes,
            end: now + longest,
            pause,
            timer: Box::pin(sleep_until(now + pause)),
        }
    }

    /// Discards the input that has arrived; ready if nothing more may follow.
    fn poll_discard<S>(&mut self, stream: &mut S, context: &mut Context<'_>) -> Poll<()>
    where
        S: AsyncRead + Unpin,
    {
        let before = self.bytes;
        while self.bytes > 0 {
            let mut space = [MaybeUninit::uninit(); PIECE];
            let mut piece = ReadBuf::uninit(&mut space);
            let read = Pin::new(&mut *stream).poll_read(context, &mut piece);
            let count = piece.filled().len();
            match read {
                Poll::Ready(Ok(())) if count > 0 => {
                    self.bytes = self.bytes.saturating_sub(count);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {
                    if self.bytes < before {
                        let due = runtime_now() + self.pause;
                        self.timer.as_mut().reset(due.min(self.end));
                    }
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.remaining();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() && buffer.remaining() == before {
            self.has_ended = true;
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
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
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// Closes our direction, and waits for the end of the other one.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self {
            stream,
            closing,
            has_ended,
            limits,
            left,
        } = &mut *self;
        if *has_ended || closing.is_tunnel.load(Ordering::Relaxed) {
            return Pin::new(stream).poll_shutdown(context);
        }
        // Before the client can notice it, and ask for a new connection.
        closing.linger(true);
        if left.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        let left = left.get_or_insert_with(|| Left::of(*limits));
        if left.poll_discard(stream, context).is_ready()
            || closing.is_urgent.load(Ordering::Relaxed)
        {
            return Poll::Ready(Ok(()));
        }
        left.timer.as_mut().poll(context).map(Ok)
    }
}

impl<S> Drop for Lingering<S> {
    fn drop(&mut self) {
        if self.closing.is_lingering.load(Ordering::Relaxed) {
            self.closing.linger(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::time::timeout;

    use super::super::slots::ConnectionSlots;
    use super::*;

    const NEVER: Limits = Limits {
        pause: Duration::from_secs(3_600),
        longest: Duration::from_secs(3_600),
        bytes: usize::MAX,
    };

    /// More than a test takes.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Both ends of a connection.
    async fn connected(limits: Limits) -> (Lingering<DuplexStream>, DuplexStream) {
        let (ours, client) = duplex(64);
        let slot = ConnectionSlots::new(1).take(1).await.unwrap();
        let mut server = Lingering::new(ours, Closing::new(slot, true));
        server.limits = limits;
        (server, client)
    }

    async fn is_open(server: &mut Lingering<DuplexStream>) -> bool {
        let shut = |context: &mut Context<'_>| {
            Poll::Ready(Pin::new(&mut *server).poll_shutdown(context).is_pending())
        };
        poll_fn(shut).await
    }

    async fn close(mut server: Lingering<DuplexStream>) {
        let closed = timeout(PATIENCE, server.shutdown()).await;
        closed.unwrap().unwrap();
    }

    async fn sends(client: &mut DuplexStream, times: usize) {
        for _ in 0..times {
            client.write_all(&[b'x'; 100]).await.unwrap();
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_client_can_send_all_and_reads_all_before_it_is_closed() {
        let (mut server, mut client) = connected(NEVER).await;
        server.write_all(b"answer").await.unwrap();
        let client = async move {
            sends(&mut client, 1_000).await;
            let mut text = String::new();
            client.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "answer");
            sends(&mut client, 10).await;
        };
        tokio::join!(close(server), client);
    }

    #[tokio::test]
    async fn each_limit_closes_it() {
        let short = Duration::from_millis(30);
        let (server, _client) = connected(Limits {
            pause: short,
            ..NEVER
        })
        .await;
        close(server).await;
        let longest = short;
        for limits in [
            Limits { longest, ..NEVER },
            Limits {
                bytes: 10_000,
                ..NEVER
            },
        ] {
            let (server, mut client) = connected(limits).await;
            tokio::select! {
                () = close(server) => {}
                () = sends(&mut client, usize::MAX) => {}
            }
        }
    }

    #[tokio::test]
    async fn one_that_hurries_reads_what_has_arrived_and_does_not_wait() {
        let (mut server, mut client) = connected(NEVER).await;
        client.write_all(b"rest").await.unwrap();
        assert!(is_open(&mut server).await);
        assert!(server.closing.hurry());
        client.write_all(b"more").await.unwrap();
        assert!(!is_open(&mut server).await);
        // All of it was discarded: there is room again.
        client.write_all(&[b'x'; 64]).await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_has_ended_and_a_tunnel_are_not_waited_for() {
        let (mut server, mut client) = connected(NEVER).await;
        client.shutdown().await.unwrap();
        assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
        assert!(!is_open(&mut server).await);
        assert!(server.left.is_none());
        let (mut server, mut client) = connected(NEVER).await;
        let tunnel = Request::connect("a:1").body(()).unwrap();
        server.closing.begins(&tunnel);
        client.write_all(b"data").await.unwrap();
        assert!(!is_open(&mut server).await);
        let mut data = [0; 4];
        server.read_exact(&mut data).await.unwrap();
        assert_eq!(&data, b"data");
        // A tunnel of HTTP/2 is not the connection, and neither is one that was refused.
        let (mut parts, ()) = tunnel.into_parts();
        parts.version = Version::HTTP_2;
        for request in [Request::from_parts(parts, ()), Request::new(())] {
            server.closing.begins(&request);
            assert!(is_open(&mut server).await);
        }
    }
}
