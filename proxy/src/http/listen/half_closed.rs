//! Clients that close their direction while they wait for an answer.
//!
//! One that has sent its whole request may close its direction and read the answer (RFC 9112 §9.6
//! does not forbid it, and scripts do it). One that leaves closes both directions, which looks the
//! same until something is written to it. Hyper either takes the end for a departure or does not
//! look for it, so it is told to do the latter, and this looks: only between the end of a request
//! and that of its answer.
//!
//! A client on this machine can be looked up, and is waited for as long as it is there. One that
//! cannot be looked up counts as gone if nothing could be sent to it for [`SILENCE`]: that a client
//! leaves is how MCP cancels a request over HTTP (2026-07-28), and much more frequent.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{Request, Version};
use http_body::Body;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::slots::{ConnectionSlot, Ends};
use crate::clock::runtime_now;
use crate::system::sockets;

/// How long a client may be sent nothing after it has closed its direction.
const SILENCE: Duration = Duration::from_millis(500);

/// The first and the longest interval between two looks for a client.
const SOON: Duration = Duration::from_millis(10);
const SELDOM: Duration = Duration::from_secs(1);

/// The maximum number of simultaneous looks. Each costs time in proportion to the number of
/// connections of the machine.
static LOOKS: Semaphore = Semaphore::const_new(2);

/// What is known about the request in progress on a connection.
pub(super) struct Attention {
    slot: Arc<ConnectionSlot>,
    is_wanted: AtomicBool,
    // The number of bytes read since the last request, and how many belong to the current one at
    // least.
    read: AtomicU64,
    due: AtomicU64,
    // The number of writes since the client has closed its direction.
    writes: AtomicU64,
}

impl Attention {
    pub(super) fn new(slot: Arc<ConnectionSlot>) -> Arc<Self> {
        Arc::new(Self {
            slot,
            is_wanted: AtomicBool::new(false),
            read: AtomicU64::new(0),
            due: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        })
    }

    /// Notes the beginning of a request.
    pub(super) fn begins<B: Body>(&self, request: &Request<B>) {
        // On HTTP/2 the end of a connection is the end of all of its streams, and hyper looks for it.
        let is_alone = request.version() != Version::HTTP_2;
        // A long body is not read in pieces.
        let body = request.body().size_hint().lower();
        let read = self.read.swap(0, Ordering::Relaxed);
        self.due.store(body.saturating_sub(read), Ordering::Relaxed);
        self.is_wanted.store(is_alone, Ordering::Relaxed);
    }

    /// Stops looking: the connection becomes a tunnel, whose directions end independently.
    pub(super) fn ends(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Whether a request was read completely, or nearly, and its answer was not sent.
    fn is_due(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed)
            && self.read.load(Ordering::Relaxed) >= self.due.load(Ordering::Relaxed)
            && self.slot.is_busy()
    }

    fn has_read(&self, count: usize) {
        // Only the connection's own task counts.
        let read = self.read.load(Ordering::Relaxed);
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.read
            .store(read.saturating_add(count), Ordering::Relaxed);
    }

    /// Completes when a client that has closed its direction counts as gone.
    async fn departure(self: Arc<Self>) {
        let (mut since, mut writes, mut pause) = (runtime_now(), 0, SOON);
        loop {
            let seen = look(self.slot.ends()).await;
            let now = runtime_now();
            let written = self.writes.load(Ordering::Relaxed);
            if seen == Some(true) || written != writes {
                (since, writes) = (now, written);
            }
            if seen == Some(false) || now.saturating_duration_since(since) >= SILENCE {
                return;
            }
            let left = SILENCE.saturating_sub(now.saturating_duration_since(since));
            sleep(if seen.is_none() {
                pause.min(left)
            } else {
                pause
            })
            .await;
            pause = (pause * 2).min(SELDOM);
        }
    }
}

/// Whether a client still has its connection, if that can be looked up.
async fn look(ends: Option<Ends>) -> Option<bool> {
    let Ends { ours, theirs } = ends?;
    if !theirs.ip().to_canonical().is_loopback() {
        return None;
    }
    let _look = LOOKS.acquire().await.ok()?;
    let looking = tokio::task::spawn_blocking(move || sockets::has_open(theirs, ours));
    looking.await.ok().flatten()
}

/// A connection whose client may close its direction, but not leave, while it waits for an answer.
pub(super) struct HalfClosed<S> {
    stream: S,
    attention: Arc<Attention>,
    // The first byte of the next request.
    next: Option<u8>,
    // The client has closed its direction; completes when it counts as gone.
    departure: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl<S> HalfClosed<S> {
    pub(super) fn new(stream: S, attention: Arc<Attention>) -> Self {
        Self {
            stream,
            attention,
            next: None,
            departure: None,
        }
    }

    fn wrote(&self) {
        if self.departure.is_some() {
            self.attention.writes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<S: AsyncRead + Unpin> HalfClosed<S> {
    /// Looks whether the client has left.
    fn look(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.departure.is_none() {
            let mut byte = [0];
            let mut buffer = ReadBuf::new(&mut byte);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Pending => return Ok(()),
                Poll::Ready(read) => read?,
            }
            if let Some(byte) = buffer.filled().first() {
                self.next = Some(*byte);
                return Ok(());
            }
        }
        let attention = &self.attention;
        let departure = self
            .departure
            .get_or_insert_with(|| Box::pin(Arc::clone(attention).departure()));
        match departure.as_mut().poll(context) {
            Poll::Pending => Ok(()),
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HalfClosed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let first = self.next.take();
        if let Some(first) = first {
            buffer.put_slice(&[first]);
        }
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.attention.has_read(buffer.filled().len() - before);
        if first.is_some() {
            // Whatever follows it is found again.
            return Poll::Ready(Ok(()));
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for HalfClosed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        self.wrote();
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices));
        self.wrote();
        Poll::Ready(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Hyper flushes whenever it has done what it can.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        if self.next.is_none() && self.attention.is_due() {
            self.look(context)?;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
