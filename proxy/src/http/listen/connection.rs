//! One connection of a client, from its first byte to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use http::Request;
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

use super::{Client, Handler, Limits, Phase};

/// One connection that is served.
pub(crate) struct Served<H> {
    pub(crate) client: Client,
    pub(crate) handler: H,
    pub(crate) limits: Limits,
    pub(crate) phase: watch::Receiver<Phase>,
}

/// Which version of HTTP a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    Http1,
    Http2,
    Unknown,
}

impl<H: Handler> Served<H> {
    pub(crate) async fn run(self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
        // A client that says nothing, or goes wrong before its first request, has lost
        // nothing but its connection.
        let Some(tls) = tls else {
            let first = timeout(self.limits.head_time, first_bytes(&stream)).await;
            if let Ok(Some(speaks)) = first {
                self.serve(stream, speaks).await;
            }
            return;
        };
        let accepted = timeout(self.limits.head_time, TlsAcceptor::from(tls).accept(stream)).await;
        if let Ok(Ok(stream)) = accepted {
            let speaks = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => Speaks::Http2,
                _ => Speaks::Http1,
            };
            self.serve(stream, speaks).await;
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
            handler,
            limits,
            mut phase,
        } = self;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .preserve_header_case(true)
            .auto_date_header(false)
            .max_buf_size(limits.head_bytes.max(8_192))
            .max_headers(MOST_FIELDS)
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_time);
        builder
            .http2()
            .auto_date_header(false)
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX))
            .max_concurrent_streams(MOST_STREAMS)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        builder = match speaks {
            Speaks::Http1 => builder.http1_only(),
            Speaks::Http2 => builder.http2_only(),
            Speaks::Unknown => builder,
        };
        let service = service_fn(move |request: Request<Incoming>| {
            let handler = handler.clone();
            async move { Ok::<_, Infallible>(handler.handle(client, request).await) }
        });
        let served = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut served = pin!(served);
        let mut told = false;
        loop {
            tokio::select! {
                // How a connection failed is in the events of its exchanges.
                _ = served.as_mut() => return,
                changed = phase.changed() => {
                    let now = if changed.is_ok() { *phase.borrow() } else { Phase::Stopping };
                    match now {
                        Phase::Draining if !told => {
                            told = true;
                            served.as_mut().graceful_shutdown();
                        }
                        Phase::Serving | Phase::Draining => {}
                        Phase::Stopping => return,
                    }
                }
            }
        }
    }
}

/// How many header fields a request may have.
const MOST_FIELDS: usize = 256;

/// How many requests may be under way on one HTTP/2 connection.
const MOST_STREAMS: u32 = 1_024;

/// How much a client may send on one HTTP/2 stream before it is passed on, in bytes.
const WINDOW: u32 = 1 << 20;

/// What the first bytes of a connection without TLS say; `None` when none come.
async fn first_bytes(stream: &TcpStream) -> Option<Speaks> {
    const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let mut seen = [0; PREFACE.len()];
    let length = stream.peek(&mut seen).await.ok()?;
    let seen = seen.get(..length)?;
    Some(match seen {
        [] => return None,
        seen if !PREFACE.starts_with(seen) => Speaks::Http1,
        [_] | [_, _] => Speaks::Unknown,
        _ => Speaks::Http2,
    })
}
