//! The server's leg: one origin, its connections, and a request that is sent once.
//!
//! On HTTP/1.1 an exchange has exclusive use of a connection, even a pooled one, and on HTTP/2 of a
//! stream. A request is never sent twice: only one that provably never reached a pooled connection
//! is moved to a new one.

mod address;
mod alert;
mod connect;
mod destination;
mod dial;
mod pool;
mod tls;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use tokio::net::TcpStream;

pub use self::address::{BadUrl, OriginUrl, Scheme};
pub(crate) use self::alert::alert_of;
pub use self::connect::ConnectError;
pub use self::destination::Destinations;
pub use self::tls::{TlsProblem, TlsSettings, client_config};
pub(crate) use self::tls::{certificates, versions};

use self::connect::{Connection, Connector};
use self::pool::{LONGEST_IDLE, Pool};
use super::body::{Gate, Outbound};
use super::fields::items;
use super::listen::but_to_us;
use super::names::Names;

/// One origin, and the connections to it.
pub struct Origin {
    url: OriginUrl,
    // The fields for every request.
    name: Arc<str>,
    host: Option<HeaderValue>,
    connector: Connector,
    pool: Pool,
}

impl fmt::Debug for Origin {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Origin").field(&self.url).finish()
    }
}

/// The settings for connections to an origin.
#[derive(Clone, Debug)]
pub struct OriginSettings {
    /// For `https`.
    pub tls: Arc<rustls::ClientConfig>,
    /// The timeout for establishing a connection.
    pub connect_timeout: Duration,
    /// Use HTTP/2 without negotiation on a connection without TLS.
    pub http2_prior_knowledge: bool,
    /// Which servers can be reached; `None` for a server that the user configured.
    pub destinations: Option<Destinations>,
}

impl OriginSettings {
    /// Connects to a server that is an allowed destination.
    pub(crate) async fn tcp(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let addresses = match &self.destinations {
            None => tokio::net::lookup_host((host, port)).await?.collect(),
            Some(only) => only.resolve(host, port).await?,
        };
        but_to_us(dial::first(&addresses).await?)
    }
}

/// Why a request had no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection could not be established: nothing was sent.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection failed after the request had been, or may have been, sent.
    #[error("the connection broke before the response")]
    Broken(#[source] hyper::Error),
    /// The server sent too many interim responses, or they were not read.
    #[error("too many interim responses (1xx) without a final one")]
    Flooded,
}

/// A response, and the lease of its connection.
#[derive(Debug)]
pub struct Answer {
    /// Its head and body.
    pub response: Response<Incoming>,
    /// The names in its head.
    pub(crate) names: Names,
    /// To be held while the body is read.
    pub lease: Lease,
}

/// Why a request had no answer, and the request if none of it was sent.
type Unanswered = (SendError, Option<Box<Request<Outbound>>>);

/// The lease of a connection. Dropping it ends the exchange: on HTTP/1.1 the connection is closed,
/// unless [`complete`](Self::complete) was called.
#[derive(Debug)]
pub struct Lease(Option<LeasedConnection>);

#[derive(Debug)]
struct LeasedConnection {
    connection: Connection,
    origin: Arc<Origin>,
    // How long the server keeps it open.
    keep: Duration,
}

impl Lease {
    /// Releases the connection for another exchange after a complete response.
    pub fn complete(mut self) {
        if let Some(held) = self.0.take() {
            held.origin.pool.end();
            held.origin.pool.put(held.connection, held.keep);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(held) = self.0.take() {
            held.origin.pool.end();
            held.connection.abandon();
        }
    }
}

impl Origin {
    /// An origin without connections.
    #[must_use]
    pub fn new(url: OriginUrl, settings: OriginSettings) -> Arc<Self> {
        Arc::new(Self {
            connector: Connector::new(&url, settings),
            name: url.origin().into(),
            host: HeaderValue::try_from(url.authority()).ok(),
            url,
            pool: Pool::default(),
        })
    }

    /// Its URL.
    #[must_use]
    pub fn url(&self) -> &OriginUrl {
        &self.url
    }

    /// `scheme://authority`.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The value of its `Host` field.
    pub(crate) fn host(&self) -> Option<&HeaderValue> {
        self.host.as_ref()
    }

    /// Sends a request in origin form, once. Its `Host` field is left as the caller set it.
    ///
    /// Dropping the future early closes the connection, which notifies the server.
    pub fn send(
        self: &Arc<Self>,
        request: Request<Outbound>,
    ) -> impl Future<Output = Result<Answer, SendError>> + Send {
        self.send_over(request, Pool::take)
    }

    /// Like `send`, but uses a new connection on HTTP/1.1. A server accepts connections in the
    /// order in which they were established, so the request cannot overtake one that waits on a new
    /// connection, as it could on a pooled one.
    pub(crate) fn send_behind(
        self: &Arc<Self>,
        request: Request<Outbound>,
    ) -> impl Future<Output = Result<Answer, SendError>> + Send {
        self.send_over(request, Pool::take_shared)
    }

    async fn send_over(
        self: &Arc<Self>,
        mut request: Request<Outbound>,
        kept: fn(&Pool) -> Option<Connection>,
    ) -> Result<Answer, SendError> {
        while let Some(connection) = kept(&self.pool) {
            match self.exchange(connection, request).await {
                Ok(answer) => return Ok(answer),
                // The server closed the connection before the request could be sent.
                Err((_, Some(unsent))) => request = *unsent,
                Err((error, None)) => return Err(error),
            }
        }
        // Boxed: rare and large, so it must not be a part of every exchange.
        let connection = match Box::pin(self.connector.connect()).await {
            Ok(connection) => connection,
            Err(error) => {
                Box::pin(read_out(request)).await;
                return Err(error.into());
            }
        };
        if connection.is_shared() {
            self.pool.put(connection.clone_shared(), LONGEST_IDLE);
        }
        let sent = self.exchange(connection, request).await;
        sent.map_err(|(error, _)| error)
    }

    /// One exchange on a connection.
    ///
    /// What needs no waiting happens before the future is made: it stores each argument twice.
    fn exchange(
        self: &Arc<Self>,
        connection: Connection,
        mut request: Request<Outbound>,
    ) -> impl Future<Output = Result<Answer, Unanswered>> + Send {
        connection.prepare(&mut request, &self.url);
        self.pool.begin();
        let mut lease = Lease(Some(LeasedConnection {
            connection,
            origin: Arc::clone(self),
            keep: LONGEST_IDLE,
        }));
        async move {
            let Some(held) = &mut lease.0 else {
                unreachable!("the lease was just made");
            };
            let sent = held.connection.send(request).await;
            let response = sent.map_err(|(error, unsent)| {
                let refusal = held.connection.refusal();
                (self.connector.broken(refusal, error), unsent)
            })?;
            let names = Names::of(response.headers());
            if names.has(Names::KEEP_ALIVE) {
                held.keep = kept_by(response.headers());
            }
            Ok(Answer {
                response,
                names,
                lease,
            })
        }
    }
}

/// Reads a request that cannot be sent, so that it is on the tape: most clients have sent it
/// already.
async fn read_out(request: Request<Outbound>) {
    // Its client waits until the body is wanted.
    if request.extensions().get::<Gate>().is_some() {
        return;
    }
    let reading = Limited::new(request.into_body(), READ_OUT_BYTES).collect();
    // What it does not send in time is missing on the tape.
    drop(tokio::time::timeout(READ_OUT_TIME, reading).await);
}

/// The limits for reading a request that cannot be sent.
const READ_OUT_BYTES: usize = 1 << 20;
const READ_OUT_TIME: Duration = Duration::from_secs(1);

/// How long a connection is pooled if its server announces when it will close it; a second less, so
/// that no request is sent on a closing connection.
fn kept_by(head: &HeaderMap) -> Duration {
    let said = items(head, &HeaderName::from_static("keep-alive"))
        .find_map(|item| item.strip_prefix("timeout=")?.parse().ok());
    said.map_or(LONGEST_IDLE, |seconds: u64| {
        LONGEST_IDLE.min(Duration::from_secs(seconds.saturating_sub(1)))
    })
}
