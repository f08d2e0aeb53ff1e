//! One connection of a client, from start to end.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use http::header::CONTENT_LENGTH;
use http::{Method, Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::super::body::Outbound;
use super::super::fault::CutOff;
use super::super::joined::Joined;
use super::super::wire::{Trailing, Wired};
use super::aside::Aside;
use super::delivered::Delivered;
use super::half_closed::{Attention, HalfClosed};
use super::linger::{Closing, Lingering};
use super::slots::{Busy, ConnectionSlot, Ends};
use super::{Client, Handler, Limits, Phase};
use crate::clock::runtime_now;
use crate::system::sockets::{self, LocalStream};
use tapewright_schemas::slices::Part as _;

/// One connection.
pub(crate) struct Served<H> {
    pub(crate) client: Client,
    pub(crate) slot: Arc<ConnectionSlot>,
    pub(crate) handler: H,
    pub(crate) limits: Limits,
    pub(crate) phase: watch::Receiver<Phase>,
}

/// Holds the slot of a connection that becomes a tunnel: an extension of its request.
#[derive(Clone)]
pub(crate) struct TunnelSlot(pub(crate) Arc<Busy>);

/// The HTTP version of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HttpVersion {
    Http1,
    Http2,
}

impl<H: Handler> Served<H> {
    pub(crate) async fn run(mut self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
        if let (Ok(ours), Ok(theirs)) = (stream.local_addr(), stream.peer_addr()) {
            self.slot.is_between(Ends { ours, theirs });
        }
        // A client that sends nothing, or an error before its first request, loses only its
        // connection.
        let Some(tls) = tls else {
            if let Some(Some(speaks)) = self.before_serving(first_bytes(&stream)).await {
                self.serve(stream, speaks, true).await;
            }
            return;
        };
        let accepting = TlsAcceptor::from(tls).accept(stream);
        if let Some(Ok(stream)) = self.before_serving(accepting).await {
            let speaks = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => HttpVersion::Http2,
                _ => HttpVersion::Http1,
            };
            self.serve(stream, speaks, true).await;
        }
    }

    /// The result of `step`, within the time limit for a head, before a shutdown, and while no
    /// other connection needs the slot.
    async fn before_serving<T>(&mut self, step: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = timeout(self.limits.head_time, step) => done.ok(),
            _ = self.phase.wait_for(|phase| *phase != Phase::Serving) => None,
            () = self.slot.asked() => None,
        }
    }

    /// Serves requests on a stream whose version is known.
    pub(crate) async fn serve_decided<S>(self, stream: S, http2: bool)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let speaks = if http2 {
            HttpVersion::Http2
        } else {
            HttpVersion::Http1
        };
        self.serve(stream, speaks, true).await;
    }

    /// Serves requests of this machine, over HTTP/1.1.
    pub(super) async fn serve_local(self, stream: LocalStream) {
        self.serve(stream, HttpVersion::Http1, sockets::CAN_HALF_CLOSE)
            .await;
    }

    /// Serves requests. A client of a stream that `can_half_close` may close it after the last one.
    async fn serve<S>(self, stream: S, speaks: HttpVersion, can_half_close: bool)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            client,
            slot,
            handler,
            limits,
            phase,
        } = self;
        let builder = builder(&limits, speaks);
        let asked = Arc::new(AtomicBool::new(false));
        let first_request = Arc::clone(&asked);
        let closing = Closing::new(Arc::clone(&slot), can_half_close);
        let attention = Attention::new(Arc::clone(&slot));
        let stream = layered(stream, &closing, &attention, &slot);
        let (place, closed) = (Arc::clone(&slot), Arc::clone(&closing));
        let ours = handler.clone();
        let service = service_fn(move |request| {
            first_request.store(true, Ordering::Relaxed);
            closed.begins(&request);
            attention.begins(&request);
            answer(handler.clone(), client, request, &place, &attention)
        });
        let served = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut served = pin!(served);
        let mut begin = pin!(tokio::time::sleep(limits.head_time));
        let mut grace = pin!(tokio::time::sleep(limits.head_time));
        let mut course = Course {
            asked,
            slot,
            closing,
            phase,
            speaks,
            head_time: limits.head_time,
            since: runtime_now(),
            waits: true,
            told: false,
            leaves: false,
        };
        loop {
            let told = pin!(course.next(begin.as_mut(), grace.as_mut()));
            let next = tokio::select! {
                biased;
                // Other errors of a connection are recorded in the events of its exchanges.
                ended = served.as_mut() => after(ended.err(), &ours, client),
                next = Aside::new(told) => next,
            };
            match next {
                Next::GoOn => {}
                Next::Shut => served.as_mut().graceful_shutdown(),
                Next::Hurry => {
                    after(at_once(served).await.and_then(Result::err), &ours, client);
                    return;
                }
                Next::End => return,
            }
        }
    }
}

/// A stream that notices how its client leaves, and waits for it at the end.
fn layered<S>(
    stream: S,
    closing: &Arc<Closing>,
    attention: &Arc<Attention>,
    slot: &ConnectionSlot,
) -> Wired<Joined<HalfClosed<Lingering<S>>>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let stream = Lingering::new(stream, Arc::clone(closing));
    let stream = Joined(HalfClosed::new(stream, Arc::clone(attention)));
    Wired::new(stream, slot.wire.clone())
}

/// The result of a future that has one now.
async fn at_once<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    let polled = poll_fn(|context| Poll::Ready(future.as_mut().poll(context)));
    match polled.await {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// The state of a connection.
struct Course {
    // Whether there was a request.
    asked: Arc<AtomicBool>,
    slot: Arc<ConnectionSlot>,
    closing: Arc<Closing>,
    phase: watch::Receiver<Phase>,
    speaks: HttpVersion,
    head_time: Duration,
    since: Instant,
    // Whether the time limit for the first request is running; on HTTP/1.1, for each head.
    waits: bool,
    // Whether its client was notified of the shutdown.
    told: bool,
    // Whether it must leave its slot to another connection.
    leaves: bool,
}

/// The next step for a connection.
enum Next {
    GoOn,
    /// Exchanges in progress are the last.
    Shut,
    /// It only waited for its client, and ends without it: only now it says why it was closed.
    Hurry,
    End,
}

impl Course {
    /// Waits until something else than traffic decides about the connection: the end of a time
    /// limit, another connection that needs the slot, or a change of the server's phase.
    async fn next(&mut self, mut begin: Pin<&mut Sleep>, mut grace: Pin<&mut Sleep>) -> Next {
        tokio::select! {
            () = begin.as_mut(), if self.waits => self.has_begun(begin),
            () = self.slot.asked() => {
                if self.closing.hurry() {
                    return Next::Hurry;
                }
                // A request that has arrived meanwhile is still served.
                self.leaves = true;
                grace.as_mut().reset(runtime_now() + GRACE);
                Next::Shut
            }
            () = grace.as_mut(), if self.leaves => {
                self.leaves = false;
                if self.slot.is_idle() { Next::End } else { Next::GoOn }
            }
            changed = self.phase.changed() => {
                let is_known = changed.is_ok();
                let now = if is_known { *self.phase.borrow() } else { Phase::Stopping };
                self.enters(now)
            }
        }
    }

    /// Handles the end of the time limit for the first request.
    ///
    /// On HTTP/1.1 it runs again if there was a request meanwhile: the next head is due later. Hyper
    /// can limit the time of each head as well, with a timer that it sets and cancels in every
    /// exchange.
    fn has_begun(&mut self, begin: Pin<&mut Sleep>) -> Next {
        if self.speaks == HttpVersion::Http1 {
            let now = runtime_now();
            let since = self.slot.free_since();
            let since = since.map_or(now, |since| since.max(self.since));
            let due = since + self.head_time;
            if due <= now {
                return Next::End;
            }
            begin.reset(due);
            return Next::GoOn;
        }
        self.waits = false;
        if self.asked.load(Ordering::Relaxed) {
            Next::GoOn
        } else {
            Next::End
        }
    }

    /// Handles a change of the server's phase.
    fn enters(&mut self, phase: Phase) -> Next {
        if phase > Phase::Serving && self.closing.hurry() {
            return Next::Hurry;
        }
        match phase {
            // There are no requests, so there is nothing to wait for.
            Phase::Draining if !self.asked.load(Ordering::Relaxed) => Next::End,
            Phase::Draining if !std::mem::replace(&mut self.told, true) => Next::Shut,
            Phase::Serving | Phase::Draining => Next::GoOn,
            Phase::Stopping => Next::End,
        }
    }
}

/// Answers one request, whose connection is busy until the response is delivered.
fn answer<H: Handler>(
    handler: H,
    client: Client,
    mut request: Request<Incoming>,
    slot: &Arc<ConnectionSlot>,
    attention: &Arc<Attention>,
) -> impl Future<Output = Result<Response<Answer>, CutOff>> + Send + use<H> {
    let busy = slot.begin();
    let tunnels = (*request.method() == Method::CONNECT).then(|| Arc::clone(attention));
    if tunnels.is_some() {
        let kept = TunnelSlot(Arc::new(slot.begin()));
        request.extensions_mut().insert(kept);
    }
    // Other versions do not allow it (RFC 9110 §15.2), or hyper does not support it.
    let interims = (request.version() == Version::HTTP_11).then(|| slot.wire.interims());
    if let Some(interims) = &interims {
        request.extensions_mut().insert(interims.clone());
    }
    async move {
        if let Some(interims) = &interims {
            poll_fn(|context| interims.poll_begin(context)).await;
        }
        // Boxed: hyper moves the future several times, and an exchange takes kilobytes.
        let response = Box::pin(handler.handle(client, request)).await;
        if let Some(attention) = tunnels {
            attention.ends();
        }
        if let Some(interims) = &interims {
            interims.close();
            poll_fn(|context| interims.poll_passed(context)).await;
        }
        if let Some(cut) = response.extensions().get::<CutOff>() {
            return Err(*cut);
        }
        let is_chunked = interims.is_some() && !response.headers().contains_key(CONTENT_LENGTH);
        let wire = is_chunked.then(|| busy.slot().wire.clone());
        Ok(response.map(|body| Delivered::new(Trailing::new(body, wire), busy)))
    }
}

/// Tells the handler about a head that could not be read.
fn after<H: Handler>(
    error: Option<Box<dyn Error + Send + Sync>>,
    handler: &H,
    client: Client,
) -> Next {
    let error = error.and_then(|error| error.downcast::<hyper::Error>().ok());
    if let Some(error) = error.filter(|error| error.is_parse()) {
        handler.unreadable(client, error.is_parse_too_large());
    }
    Next::End
}

/// The body of a response in transit.
type Answer = Delivered<Trailing<Outbound>>;

/// Configures hyper with these limits.
fn builder(limits: &Limits, speaks: HttpVersion) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // At most 100 fields, as with other proxies: more would add an allocation of kilobytes to
        // every head.
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(limits.head_bytes.max(8_192))
        // `HalfClosed` looks for clients that leave.
        .half_close(true)
        // `Course` does that.
        .header_read_timeout(None);
    builder
        .http2()
        .auto_date_header(false)
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(MOST_STREAMS)
        .keep_alive_interval(KEEP_ALIVE)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    match speaks {
        HttpVersion::Http1 => builder.http1_only(),
        HttpVersion::Http2 => builder.http2_only(),
    }
}

/// How long a connection whose slot is needed may take to end.
const GRACE: Duration = Duration::from_millis(200);

/// The maximum number of concurrent requests on one HTTP/2 connection.
const MOST_STREAMS: u32 = 1_024;

/// The window of one HTTP/2 stream, in bytes.
const WINDOW: u32 = 1 << 20;

/// How often a silent HTTP/2 client is pinged.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The HTTP version from the first bytes of a connection without TLS; `None` if there are none.
async fn first_bytes(stream: &TcpStream) -> Option<HttpVersion> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut seen = [0; PREFACE.len()];
    loop {
        let length = stream.peek(&mut seen).await.ok()?;
        match seen.part(..length) {
            [] => return None,
            PREFACE => return Some(HttpVersion::Http2),
            seen if !PREFACE.starts_with(seen) => return Some(HttpVersion::Http1),
            // Part of a preface, which no real client splits.
            _ => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

/// How long to wait for the rest of a preface.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
