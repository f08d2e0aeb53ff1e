//! The server's leg: one origin, its connections, and a request that is sent once.
//!
//! An exchange has a connection of its own on HTTP/1.1 for as long as it lasts, also where
//! connections are kept for the next one, and a stream of its own on HTTP/2. A request is
//! never sent twice: only one that provably never reached a kept connection is moved to a
//! new one.

mod address;
mod alert;
mod connect;
mod destination;
mod pool;
mod tls;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use hyper::body::Incoming;
use tokio::net::TcpStream;

pub use self::address::{BadUrl, OriginUrl, Scheme};
pub use self::connect::ConnectError;
pub use self::destination::Destinations;
pub use self::tls::{TlsProblem, TlsSettings, client_config};
pub(crate) use self::tls::{certificates, versions};

use self::connect::{Connection, Connector};
use self::pool::{LONGEST_IDLE, Pool};
use super::body::Outbound;
use super::fields::items;
use super::listen::but_to_us;

/// One origin, and the connections to it.
pub struct Origin {
    url: OriginUrl,
    // Said with every request.
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

/// How an origin is reached.
#[derive(Clone, Debug)]
pub struct OriginSettings {
    /// For `https`.
    pub tls: Arc<rustls::ClientConfig>,
    /// How long a connection may take to come about.
    pub connect_timeout: Duration,
    /// Speak HTTP/2 without asking on a connection without TLS.
    pub http2_prior_knowledge: bool,
    /// Which servers are reached; `None` where the user named the one.
    pub destinations: Option<Destinations>,
}

impl OriginSettings {
    /// A connection to a server that is one of the destinations.
    pub(crate) async fn tcp(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let stream = match &self.destinations {
            None => TcpStream::connect((host, port)).await,
            Some(only) => TcpStream::connect(only.resolve(host, port).await?.as_slice()).await,
        };
        but_to_us(stream?)
    }
}

/// Why a request had no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// No connection came about: nothing was sent.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The connection failed after the request had been, or may have been, sent.
    #[error("the connection broke before the response")]
    Broken(#[source] hyper::Error),
    /// The server sent too many interim responses, or they were not read.
    #[error("too many interim responses (1xx) without a final one")]
    Flooded,
}

/// A response, and the hold on its connection.
#[derive(Debug)]
pub struct Answer {
    /// Its head and body.
    pub response: Response<Incoming>,
    /// To be kept as long as the body is read.
    pub lease: Lease,
}

/// A hold on a connection. Dropping it ends the exchange: on HTTP/1.1 the connection is
/// closed, unless [`complete`](Self::complete) said that it can serve another one.
#[derive(Debug)]
pub struct Lease(Option<LeasedConnection>);

#[derive(Debug)]
struct LeasedConnection {
    connection: Connection,
    origin: Arc<Origin>,
    // For how long the server keeps it.
    keep: Duration,
}

impl Lease {
    /// The response has come to its proper end.
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
    /// An origin to which nothing is connected yet.
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

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &OriginUrl {
        &self.url
    }

    /// `scheme://authority`.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// What `Host` says of it.
    pub(crate) fn host(&self) -> Option<&HeaderValue> {
        self.host.as_ref()
    }

    /// Sends a request in origin form, once. Its `Host` field stands as the caller set it.
    ///
    /// Dropping the future before it is done closes the connection, and so tells the server.
    pub async fn send(self: &Arc<Self>, request: Request<Outbound>) -> Result<Answer, SendError> {
        self.send_over(request, Pool::take).await
    }

    /// The same, on HTTP/1.1 by a connection made for it. A server takes connections in the
    /// order in which they came about, so that the request does not overtake one that waits
    /// in a new connection, as it could on a kept one.
    pub(crate) async fn send_behind(
        self: &Arc<Self>,
        request: Request<Outbound>,
    ) -> Result<Answer, SendError> {
        self.send_over(request, Pool::take_shared).await
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
        // Seldom, and large: not to be a part of every exchange.
        let connection = Box::pin(self.connector.connect()).await?;
        if connection.is_shared() {
            self.pool.put(connection.clone_shared(), LONGEST_IDLE);
        }
        let sent = self.exchange(connection, request).await;
        sent.map_err(|(error, _)| error)
    }

    async fn exchange(
        self: &Arc<Self>,
        connection: Connection,
        mut request: Request<Outbound>,
    ) -> Result<Answer, (SendError, Option<Box<Request<Outbound>>>)> {
        connection.prepare(&mut request, &self.url);
        self.pool.begin();
        let mut lease = Lease(Some(LeasedConnection {
            connection,
            origin: Arc::clone(self),
            keep: LONGEST_IDLE,
        }));
        let Some(held) = &mut lease.0 else {
            unreachable!("the lease was just made");
        };
        let sent = held.connection.send(request).await;
        let response = sent.map_err(|(error, unsent)| {
            let refusal = held.connection.refusal();
            (self.connector.broken(refusal, error), unsent)
        })?;
        held.keep = kept_by(response.headers());
        Ok(Answer { response, lease })
    }
}

/// How long we may keep a connection whose server says when it will close it; a second less
/// than that, so that no request meets the end.
fn kept_by(head: &HeaderMap) -> Duration {
    let said = items(head, &HeaderName::from_static("keep-alive"))
        .find_map(|item| item.strip_prefix("timeout=")?.parse().ok());
    said.map_or(LONGEST_IDLE, |seconds: u64| {
        LONGEST_IDLE.min(Duration::from_secs(seconds.saturating_sub(1)))
    })
}
