//! Establishes a connection: TCP, TLS, and the HTTP version.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request, Response, Uri, Version, header};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;
use tokio_rustls::TlsConnector;

use super::alert::{self, AlertStream, Refusal};
use super::{OriginSettings, OriginUrl, Scheme, SendError};
use crate::http::body::{Gate, Outbound};
use crate::http::joined::Joined;
use crate::http::listen::WorkerId;
use crate::http::wire::{Trailing, Wire, Wired};
use crate::system::sockets::ConnectionProbe;

/// Why a connection could not be established. Nothing was sent to the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The name does not resolve, the connection is refused, or the host is unreachable.
    #[error("cannot connect to {authority}")]
    Tcp {
        /// Host and port.
        authority: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// It took too long.
    #[error("connecting to {authority} timed out after {} s", after.as_secs_f32())]
    TimedOut {
        /// Host and port.
        authority: String,
        /// The limit.
        after: Duration,
    },
    /// The server sent a TLS alert that refuses the connection.
    #[error("TLS handshake with {authority} failed: the server sent the alert `{alert}`")]
    Refused {
        /// Host and port.
        authority: String,
        /// The name of the alert (RFC 8446 §6).
        alert: String,
    },
    /// The connection ended before the TLS handshake was done, without a reason.
    #[error("TLS handshake with {authority} failed: the server closed the connection")]
    Ended {
        /// Host and port.
        authority: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The client refused the server in TLS, for example because of an untrusted certificate.
    #[error("TLS handshake with {authority} failed")]
    Tls {
        /// Host and port.
        authority: String,
        /// The error.
        #[source]
        source: io::Error,
    },
    /// The server does not support HTTP.
    #[error("HTTP handshake with {authority} failed")]
    Http {
        /// Host and port.
        authority: String,
        /// The error.
        #[source]
        source: hyper::Error,
    },
}

/// Makes connections to one origin.
pub(super) struct Connector {
    host: String,
    port: u16,
    authority: String,
    secure: bool,
    settings: OriginSettings,
}

impl Connector {
    pub(super) fn new(url: &OriginUrl, settings: OriginSettings) -> Self {
        Self {
            host: url.host.clone(),
            port: url.port,
            authority: url.authority(),
            secure: url.scheme == Scheme::Https,
            settings,
        }
    }

    pub(super) async fn connect(&self) -> Result<Connection, ConnectError> {
        let limit = self.settings.connect_timeout;
        tokio::time::timeout(limit, self.open())
            .await
            .unwrap_or_else(|_| {
                Err(ConnectError::TimedOut {
                    authority: self.authority.clone(),
                    after: limit,
                })
            })
    }

    async fn open(&self) -> Result<Connection, ConnectError> {
        let authority = || self.authority.clone();
        let tcp = self
            .settings
            .tcp(&self.host, self.port)
            .await
            .and_then(|tcp| tcp.set_nodelay(true).map(|()| tcp))
            .map_err(|source| ConnectError::Tcp {
                authority: authority(),
                source,
            })?;
        let refusal = Refusal::default();
        // Without it, received data is only noticed when the connection is read.
        let socket = ConnectionProbe::at(&tcp).ok();
        if !self.secure {
            let http2 = self.settings.http2_prior_knowledge;
            return self.speak(tcp, socket, refusal, http2).await;
        }
        let name = ServerName::try_from(self.host.clone())
            .map_err(|error| self.no_tls(io::Error::new(io::ErrorKind::InvalidInput, error)))?;
        let stream = TlsConnector::from(Arc::clone(&self.settings.tls))
            .connect(name, tcp)
            .await
            .map_err(|source| self.no_tls(source))?;
        let (_, session) = stream.get_ref();
        let http2 = session.alpn_protocol() == Some(b"h2");
        let stream = AlertStream::new(stream, refusal.clone());
        self.speak(stream, socket, refusal, http2).await
    }

    /// The error for a failed TLS handshake, depending on the side that refused it.
    fn no_tls(&self, source: io::Error) -> ConnectError {
        let authority = self.authority.clone();
        if let Some(alert) = alert::alert_in(&source) {
            let alert = alert::name(alert);
            return ConnectError::Refused { authority, alert };
        }
        let source = if alert::is_no_tls(&source) {
            io::Error::new(source.kind(), "the server does not speak TLS")
        } else if let Some(fault) = alert::certificate_fault(&source) {
            io::Error::new(source.kind(), fault)
        } else {
            source
        };
        match source.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                ConnectError::Tls { authority, source }
            }
            _ => ConnectError::Ended { authority, source },
        }
    }

    /// The error for a connection that broke before there was a response.
    pub(super) fn broken(&self, refusal: &Refusal, error: hyper::Error) -> SendError {
        match refusal.alert() {
            Some(alert) => SendError::Connect(ConnectError::Refused {
                authority: self.authority.clone(),
                alert,
            }),
            None => SendError::Broken(error),
        }
    }

    async fn speak<S>(
        &self,
        stream: S,
        socket: Option<ConnectionProbe>,
        refusal: Refusal,
        http2: bool,
    ) -> Result<Connection, ConnectError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let http = |source| ConnectError::Http {
            authority: self.authority.clone(),
            source,
        };
        let wire = Wire::default();
        let io = TokioIo::new(Wired::new(Joined(stream), wire.clone()));
        if http2 {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW)
                .handshake(io)
                .await
                .map_err(http)?;
            spawn(async move { drop(connection.await) });
            return Ok(Connection::Shared(sender, refusal));
        }
        let (sender, connection) = http1::Builder::new()
            // At most 100 fields, as everywhere: more would add an allocation of kilobytes to every
            // head.
            .preserve_header_case(true)
            .handshake(io)
            .await
            .map_err(http)?;
        let task = spawn(async move { drop(connection.await) });
        Ok(Connection::Own {
            sender,
            wire,
            refusal,
            socket,
            task,
            worker: WorkerId::current(),
        })
    }
}

/// Runs a connection. It ends with its exchanges, which shutdown waits for.
#[expect(clippy::disallowed_methods, reason = "its end shows in the sender")]
fn spawn(connection: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(connection).abort_handle()
}

/// The window of one HTTP/2 stream, in bytes.
const WINDOW: u32 = 1 << 20;

/// One connection.
#[derive(Debug)]
pub(super) enum Connection {
    /// HTTP/1.1: one exchange at a time.
    Own {
        sender: http1::SendRequest<Trailing<Outbound>>,
        wire: Wire,
        refusal: Refusal,
        /// Another handle to its socket, for checks.
        socket: Option<ConnectionProbe>,
        task: AbortHandle,
        /// The thread that waits for its socket.
        worker: WorkerId,
    },
    /// HTTP/2: many at once.
    Shared(http2::SendRequest<Outbound>, Refusal),
}

type Unsent = (hyper::Error, Option<Box<Request<Outbound>>>);

impl Connection {
    pub(super) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(..))
    }

    /// Whether this thread waits for its socket, or many threads share it.
    pub(super) fn serves(&self, thread: WorkerId) -> bool {
        match self {
            Self::Own { worker, .. } => *worker == thread,
            Self::Shared(..) => true,
        }
    }

    /// Another handle to a shared connection; an exclusive one is moved.
    pub(super) fn clone_shared(&self) -> Self {
        match self {
            Self::Shared(sender, refusal) => Self::Shared(sender.clone(), refusal.clone()),
            Self::Own { .. } => unreachable!("only asked of shared connections"),
        }
    }

    /// How the server refused the connection in TLS, if it did.
    pub(super) fn refusal(&self) -> &Refusal {
        match self {
            Self::Own { refusal, .. } | Self::Shared(_, refusal) => refusal,
        }
    }

    /// Whether it can serve another exchange, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Own { sender, .. } => !sender.is_closed(),
            Self::Shared(sender, _) => !sender.is_closed(),
        }
    }

    /// Whether there is no received data that its task has not read yet. On an idle connection such
    /// data would be its end, or an error.
    pub(super) fn is_quiet(&self) -> bool {
        let Self::Own {
            socket: Some(socket),
            ..
        } = self
        else {
            return true;
        };
        !socket.has_come()
    }

    /// Converts the target to the form that this version of HTTP requires.
    pub(super) fn prepare(&self, request: &mut Request<Outbound>, url: &OriginUrl) {
        if !self.is_shared() {
            *request.version_mut() = Version::HTTP_11;
            let unknown = request.body().size_hint().exact().is_none();
            let head = request.headers_mut();
            if unknown && !head.contains_key(header::CONTENT_LENGTH) {
                // Also for a GET, whose body would otherwise be lost.
                let chunked = HeaderValue::from_static("chunked");
                head.insert(header::TRANSFER_ENCODING, chunked);
            }
            if head.contains_key(header::TE) {
                // It is connection-specific (RFC 9110 §10.1.4).
                head.insert(header::CONNECTION, HeaderValue::from_static("TE"));
            }
            return;
        }
        if let Some(gate) = request.extensions().get::<Gate>() {
            // Hyper does not report interim responses.
            gate.open();
        }
        *request.version_mut() = Version::HTTP_2;
        let authority = request.headers_mut().remove(header::HOST);
        let authority = authority
            .as_ref()
            .and_then(|host| host.to_str().ok())
            .map_or_else(|| url.authority(), str::to_owned);
        let path = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str());
        let whole = Uri::builder()
            .scheme(url.scheme.name())
            .authority(authority)
            .path_and_query(path)
            .build();
        if let Ok(whole) = whole {
            *request.uri_mut() = whole;
        }
    }

    /// Sends a request. An error contains the request if none of it was sent.
    pub(super) async fn send(
        &mut self,
        request: Request<Outbound>,
    ) -> Result<Response<Incoming>, Unsent> {
        match self {
            Self::Own { sender, wire, .. } => {
                if let Err(error) = sender.ready().await {
                    return Err((error, Some(Box::new(request))));
                }
                let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
                let wire = is_chunked.then(|| wire.clone());
                let request = request.map(|body| Trailing::new(body, wire));
                let sent = sender.try_send_request(request).await;
                sent.map_err(|mut error| {
                    let unsent = error.take_message();
                    let unsent = unsent.map(|request| Box::new(request.map(Trailing::into_inner)));
                    (error.into_error(), unsent)
                })
            }
            Self::Shared(sender, _) => {
                if let Err(error) = sender.ready().await {
                    let unsent = to_origin_form(request);
                    return Err((error, Some(Box::new(unsent))));
                }
                let sent = sender.try_send_request(request).await;
                sent.map_err(|mut error| {
                    let unsent = error.take_message().map(to_origin_form).map(Box::new);
                    (error.into_error(), unsent)
                })
            }
        }
    }

    /// Aborts its exchange.
    pub(super) fn abandon(self) {
        // A shared connection resets the stream when its body is dropped.
        if let Self::Own { task, .. } = self {
            task.abort();
        }
    }
}

/// Reverses [`Connection::prepare`], for a request that moves to another connection.
fn to_origin_form(mut request: Request<Outbound>) -> Request<Outbound> {
    let authority = request.uri().authority().map(ToString::to_string);
    if let Some(host) = authority.and_then(|host| HeaderValue::try_from(host).ok()) {
        request.headers_mut().insert(header::HOST, host);
    }
    if let Some(path) = request.uri().path_and_query().cloned() {
        *request.uri_mut() = Uri::from(path);
    }
    request
}
