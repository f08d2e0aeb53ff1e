//! The client's leg: listening, with limits for clients.

mod address;
mod aside;
mod connection;
mod delivered;
mod guard;
mod half_closed;
mod linger;
mod ours;
mod slots;
mod tls;
mod token;
mod workers;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use rustls::ServerConfig;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use self::address::{Accepted, BoundListener};
use self::ours::ListeningPlace;
use self::slots::ConnectionSlots;
use super::body::Outbound;

pub use self::address::{ListenAddress, ReachableAt};
pub(crate) use self::connection::{Served, TunnelSlot};
pub(crate) use self::guard::{Guard, Refused, comes_from_elsewhere, is_port};
pub(crate) use self::ours::but_to_us;
pub(crate) use self::slots::ConnectionSlot;
pub use self::tls::server_config;
pub use self::token::{BadToken, ClientToken};
pub(crate) use self::token::{CHALLENGE, is_same};
pub(crate) use self::workers::{WorkerId, Workers};

/// The limits for clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of connections; for further ones those that have been idle longest are
    /// closed, and if none is idle, new ones wait.
    pub connections: usize,
    /// The maximum number of concurrent exchanges; further ones are answered with 503.
    pub exchanges: usize,
    /// The maximum length of a request's head, in bytes; a longer one is answered with 431.
    pub head_bytes: usize,
    /// The timeout for the head of a request, and for an idle connection.
    pub head_time: Duration,
    /// The maximum pause in the middle of a request's body.
    pub body_time: Duration,
    /// The maximum memory for recording all bodies in progress, in bytes; beyond that they are
    /// forwarded anyway and recorded as clipped.
    pub tap_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8_192,
            exchanges: 16_384,
            head_bytes: 64 * 1024,
            // Longer than clients keep idle connections (90 s), so that clients close them, and no
            // request is sent on a connection that is just closing.
            head_time: Duration::from_secs(120),
            body_time: Duration::from_secs(60),
            tap_bytes: 512 << 20,
        }
    }
}

/// One connection of a client.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Its address; `None` through a socket in the file system.
    pub address: Option<SocketAddr>,
    /// Its number, from 1.
    pub connection: u64,
    /// Whether it uses TLS.
    pub secure: bool,
}

/// Answers requests.
pub trait Handler: Clone + Send + Sync + 'static {
    /// Answers one request. Dropped if the client leaves before there is an answer.
    fn handle(
        &self,
        client: Client,
        request: Request<Incoming>,
    ) -> impl Future<Output = Response<Outbound>> + Send;

    /// Notes a request whose head could not be read, which hyper has answered; `is_too_long` if it
    /// was too long or had too many fields.
    fn unreadable(&self, _client: Client, _is_too_long: bool) {}
}

/// A socket that clients can connect to.
#[derive(Debug)]
pub struct Listener {
    socket: BoundListener,
    tls: Option<Arc<ServerConfig>>,
    limits: Limits,
    connections: AtomicU64,
    // Registers the address as unreachable through this process.
    ours: Option<ListeningPlace>,
}

/// The phase of a shutdown, visible to everything that serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// All requests are served.
    #[default]
    Serving,
    /// New requests are refused; those in progress may finish.
    Draining,
    /// Requests still in progress are cut off.
    Stopping,
}

impl Listener {
    /// Listens on `place`. A socket in the file system only supports HTTP/1.1 without TLS, for its
    /// owner, and replaces one without a server.
    pub async fn bind(
        place: impl Into<ListenAddress>,
        tls: Option<Arc<ServerConfig>>,
        limits: Limits,
    ) -> io::Result<Self> {
        Ok(Self {
            socket: BoundListener::bind(place.into()).await?,
            tls,
            limits,
            connections: AtomicU64::new(0),
            ours: None,
        })
    }

    /// Prevents clients from connecting to this address through this process.
    #[must_use]
    pub fn ours(mut self) -> Self {
        let place = self.socket.path().is_none().then(|| self.address());
        self.ours = place.and_then(Result::ok).map(ListeningPlace::new);
        self
    }

    /// The address for clients; for a socket in the file system, that of this machine without a
    /// port.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }

    /// How clients can connect.
    pub fn reached(&self) -> io::Result<ReachableAt> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Ok(match self.socket.path() {
            Some(path) => ReachableAt::Socket(path.to_owned()),
            None => ReachableAt::Origin(format!("{scheme}://{}", self.address()?)),
        })
    }

    /// Serves until `phase` changes; returns when no connection is left. Later connections are
    /// refused by the system.
    pub async fn serve<H: Handler>(self, handler: H, phase: watch::Receiver<Phase>) {
        self.serve_on(&Workers::none(), handler, phase).await;
    }

    /// Like `serve`, with each connection on one of these threads.
    pub(crate) async fn serve_on<H: Handler>(
        self,
        workers: &Workers,
        handler: H,
        mut phase: watch::Receiver<Phase>,
    ) {
        let tasks = TaskTracker::new();
        let slots = ConnectionSlots::new(self.limits.connections);
        loop {
            let accepted = tokio::select! {
                accepted = self.accept(&slots) => accepted,
                _ = phase.wait_for(|phase| *phase != Phase::Serving) => break,
            };
            let Some((accepted, client, slot)) = accepted else {
                continue;
            };
            let connection = Served {
                client,
                slot,
                handler: handler.clone(),
                limits: self.limits,
                phase: phase.clone(),
            };
            let tls = self.tls.clone();
            match accepted {
                Accepted::Tcp(stream, _) => {
                    workers.serve(&tasks, stream, |stream| connection.run(stream, tls));
                }
                Accepted::Unix(stream) => {
                    tasks.spawn(connection.serve_local(stream));
                }
            }
        }
        drop(self);
        tasks.close();
        tasks.wait().await;
    }

    async fn accept(
        &self,
        slots: &ConnectionSlots,
    ) -> Option<(Accepted, Client, Arc<ConnectionSlot>)> {
        let Ok(accepted) = self.socket.accept().await else {
            // Out of descriptors, or the client left immediately: continue with others.
            tokio::time::sleep(PAUSE).await;
            return None;
        };
        let address = match &accepted {
            Accepted::Tcp(stream, address) => {
                // Each event must be sent immediately.
                stream.set_nodelay(true).ok()?;
                Some(*address)
            }
            Accepted::Unix(_) => None,
        };
        let client = Client {
            address,
            connection: self.connections.fetch_add(1, Ordering::Relaxed) + 1,
            secure: self.tls.is_some(),
        };
        let slot = slots.take(client.connection).await?;
        Some((accepted, client, slot))
    }
}

/// How long accepting pauses after an error.
const PAUSE: Duration = Duration::from_millis(20);
