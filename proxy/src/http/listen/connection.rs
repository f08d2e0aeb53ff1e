//! One connection of a client, from its first byte to its last.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::super::body::Outbound;
use super::super::fault::CutOff;
use super::super::joined::Joined;
use super::super::wire::{Trailing, Wired};
use super::delivered::Delivered;
use super::slots::{Busy, ConnectionSlot};
use super::{Client, Handler, Limits, Phase};
use crate::clock::runtime_now;
use tapewright_schemas::slices::Part as _;

/// One connection that is served.
pub(crate) struct Served<H> {
    pub(crate) client: Client,
    pub(crate) slot: Arc<ConnectionSlot>,
    pub(crate) handler: H,
    pub(crate) limits: Limits,
    pub(crate) phase: watch::Receiver<Phase>,
}

/// Keeps the place of a connection that becomes a tunnel: an extension of its request.
#[derive(Clone)]
pub(crate) struct TunnelSlot(pub(crate) Arc<Busy>);

/// Which version of HTTP a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    Http1,
    Http2,
}

impl<H: Handler> Served<H> {
    pub(crate) async fn run(mut self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
        // A client that says nothing, or goes wrong before its first request, has lost
        // nothing but its connection.
        let Some(tls) = tls else {
            if let Some(Some(speaks)) = self.before_serving(first_bytes(&stream)).await {
                self.serve(stream, speaks).await;
            }
            return;
        };
        let accepting = TlsAcceptor::from(tls).accept(stream);
        if let Some(Ok(stream)) = self.before_serving(accepting).await {
            let speaks = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => Speaks::Http2,
                _ => Speaks::Http1,
            };
            self.serve(stream, speaks).await;
        }
    }

    /// What `step` comes to, in the time that a head may take, before a shutdown, and while
    /// no other connection needs the slot.
    async fn before_serving<T>(&mut self, step: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = timeout(self.limits.head_time, step) => done.ok(),
            _ = self.phase.wait_for(|phase| *phase != Phase::Serving) => None,
            () = self.slot.asked() => None,
        }
    }

    /// Serves requests on a stream of which it is known what it speaks.
    pub(crate) async fn serve_decided<S>(self, stream: S, http2: bool)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let speaks = if http2 { Speaks::Http2 } else { Speaks::Http1 };
        self.serve(stream, speaks).await;
    }

    async fn serve<S>(self, stream: S, speaks: Speaks)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            client,
            slot,
            handler,
            limits,
            mut phase,
        } = self;
        let builder = builder(&limits, speaks);
        let asked = Arc::new(AtomicBool::new(false));
        let first_request = Arc::clone(&asked);
        let stream = Wired::new(Joined(stream), slot.wire.clone());
        let place = Arc::clone(&slot);
        let service = service_fn(move |request| {
            first_request.store(true, Ordering::Relaxed);
            answer(handler.clone(), client, request, &place)
        });
        let served = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut served = pin!(served);
        // HTTP/1.1 limits the time of each head itself.
        let mut begin = pin!(tokio::time::sleep(limits.head_time));
        let mut grace = pin!(tokio::time::sleep(limits.head_time));
        let mut course = Course {
            asked,
            waits: speaks == Speaks::Http2,
            told: false,
            leaves: false,
        };
        loop {
            let next = tokio::select! {
                () = begin.as_mut(), if course.waits => course.has_begun(),
                // Another connection needs the slot. A request that has arrived meanwhile is served.
                () = slot.asked() => {
                    course.leaves = true;
                    grace.as_mut().reset(runtime_now() + GRACE);
                    Next::Shut
                }
                () = grace.as_mut(), if course.leaves => {
                    course.leaves = false;
                    if slot.is_idle() { Next::End } else { Next::GoOn }
                }
                // How a connection failed is in the events of its exchanges.
                _ = served.as_mut() => Next::End,
                changed = phase.changed() => {
                    let now = if changed.is_ok() { *phase.borrow() } else { Phase::Stopping };
                    course.enters(now)
                }
            };
            match next {
                Next::GoOn => {}
                Next::Shut => served.as_mut().graceful_shutdown(),
                Next::End => return,
            }
        }
    }
}

/// How far a connection has come.
struct Course {
    // Whether a request has come.
    asked: Arc<AtomicBool>,
    // Whether the time for the first request runs.
    waits: bool,
    // Whether its client was told that we shut down.
    told: bool,
    // Whether it is to leave its place to another.
    leaves: bool,
}

/// What becomes of a connection now.
enum Next {
    GoOn,
    /// What is under way is the last.
    Shut,
    End,
}

impl Course {
    /// The time for the first request is over.
    fn has_begun(&mut self) -> Next {
        self.waits = false;
        if self.asked.load(Ordering::Relaxed) {
            Next::GoOn
        } else {
            Next::End
        }
    }

    /// The whole server is in another phase.
    fn enters(&mut self, phase: Phase) -> Next {
        match phase {
            // Nothing is under way, and nothing has to be waited for.
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
) -> impl Future<Output = Result<Response<Answer>, CutOff>> + Send + use<H> {
    let busy = slot.begin();
    if *request.method() == Method::CONNECT {
        let kept = TunnelSlot(Arc::new(slot.begin()));
        request.extensions_mut().insert(kept);
    }
    // Others cannot be told (RFC 9110 §15.2), or hyper has no way to.
    let interims = (request.version() == Version::HTTP_11).then(|| slot.wire.interims());
    if let Some(interims) = &interims {
        request.extensions_mut().insert(interims.clone());
    }
    async move {
        if let Some(interims) = &interims {
            poll_fn(|context| interims.poll_begin(context)).await;
        }
        // In a box: hyper moves what we return from place to place, and an exchange takes kilobytes.
        let response = Box::pin(handler.handle(client, request)).await;
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

/// The body of a response on its way.
type Answer = Delivered<Trailing<Outbound>>;

/// How HTTP is served, within these limits.
fn builder(limits: &Limits, speaks: Speaks) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        // At most 100 fields, as with other proxies: more would cost every head an
        // allocation of kilobytes.
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(limits.head_bytes.max(8_192))
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time);
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
        Speaks::Http1 => builder.http1_only(),
        Speaks::Http2 => builder.http2_only(),
    }
}

/// How long a connection whose place is wanted has to end by itself.
const GRACE: Duration = Duration::from_millis(200);

/// How many requests may be under way on one HTTP/2 connection.
const MOST_STREAMS: u32 = 1_024;

/// How much a client may send on one HTTP/2 stream before it is passed on, in bytes.
const WINDOW: u32 = 1 << 20;

/// How often a silent client of HTTP/2 is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// What the first bytes of a connection without TLS say; `None` when none come.
async fn first_bytes(stream: &TcpStream) -> Option<Speaks> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut seen = [0; PREFACE.len()];
    loop {
        let length = stream.peek(&mut seen).await.ok()?;
        match seen.part(..length) {
            [] => return None,
            PREFACE => return Some(Speaks::Http2),
            seen if !PREFACE.starts_with(seen) => return Some(Speaks::Http1),
            // Part of a preface, which no real client sends in parts.
            _ => tokio::time::sleep(LOOK_AGAIN).await,
        }
    }
}

/// How long until the rest of a preface is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
