//! Tunnels: `CONNECT`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use tapewright_schemas::event::{
    CloseReason, Direction, EventBody, Fields, Head, InPlace, InPlaceCause, RequestHead,
    ResponseHead,
};
use tapewright_schemas::slices::Part as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Forward;
use super::first::Tunnel;
use super::intercept;
use crate::http::body::Outbound;
use crate::http::fields::version_of;
use crate::http::gateway::{Gateway, LocalAnswer, note_ours, peer};
use crate::http::listen::{Client, Phase, TunnelSlot};
use crate::http::origin::{Origin, OriginUrl, Scheme};
use crate::http::sessions::SESSIONLESS;
use crate::http::tap::Log;

impl Forward {
    /// Opens a tunnel.
    pub(super) async fn connect(
        &self,
        gateway: &Arc<Gateway>,
        client: Client,
        mut request: Request<Incoming>,
    ) -> Response<Outbound> {
        let url = request
            .uri()
            .authority()
            .filter(|authority| authority.port_u16().is_some())
            .and_then(|authority| OriginUrl::of_authority(Scheme::Https, authority));
        let Some(url) = url else {
            let why = "CONNECT names a host and a port";
            let ours = LocalAnswer::bad_request(InPlaceCause::ConnectTarget, why);
            return gateway.refuse(client, &request, &ours);
        };
        let plain = self.origin(OriginUrl {
            scheme: Scheme::Http,
            ..url.clone()
        });
        let upgrade = hyper::upgrade::on(&mut request);
        let Some(kept) = request.extensions_mut().remove::<TunnelSlot>() else {
            let why = "a tunnel needs a connection of its own";
            let ours = LocalAnswer::bad_request(InPlaceCause::TunnelShared, why);
            return gateway.refuse(client, &request, &ours);
        };
        let authority = self.authority.as_ref();
        if let Some(authority) = authority.filter(|authority| authority.covers(&url.host)) {
            let opened = intercept::Opened {
                gateway: Arc::clone(gateway),
                client,
                kept,
                origin: self.origin(url),
                version: request.version(),
                plain,
                authority: Arc::clone(authority),
            };
            gateway.tasks.spawn(opened.run(upgrade));
            return Response::new(Outbound::empty());
        }
        let log = gateway.log(Some(SESSIONLESS));
        note_connect(&log, client, &url, request.version());
        let server = match self.reach(&url).await {
            Ok(server) => server,
            Err(ours) => {
                note_ours(&log, &ours);
                return ours.response();
            }
        };
        note_connected(&log);
        let opened = Opened {
            gateway: Arc::clone(gateway),
            client,
            kept,
            plain,
            log,
        };
        gateway.tasks.spawn(opened.run(upgrade, server));
        Response::new(Outbound::empty())
    }

    /// Connects to the server of a tunnel.
    async fn reach(&self, url: &OriginUrl) -> Result<TcpStream, LocalAnswer> {
        let limit = self.settings.connect_timeout;
        let server = tokio::time::timeout(limit, self.settings.tcp(&url.host, url.port));
        match server.await {
            Ok(Ok(server)) => {
                // Failure only makes the tunnel slower.
                drop(server.set_nodelay(true));
                Ok(server)
            }
            failed => Err(unreached(failed.ok().and_then(Result::err).as_ref(), url)),
        }
    }
}

/// A tunnel whose server is connected.
struct Opened {
    gateway: Arc<Gateway>,
    client: Client,
    kept: TunnelSlot,
    // The same server without TLS, for a client that uses HTTP in the tunnel.
    plain: Arc<Origin>,
    log: Log,
}

impl Opened {
    /// Forwards the tunnel until both sides are done, or the proxy stops.
    async fn run(self, upgrade: OnUpgrade, server: TcpStream) {
        let Self {
            gateway,
            client,
            kept,
            plain,
            log,
        } = self;
        let mut phase = gateway.phase.clone();
        let Ok(stream) = upgrade.await else { return };
        let mut tunnel = Tunnel::new(stream);
        let is_http = tokio::select! {
            is_http = tunnel.is_plain_http() => is_http,
            // The server sends first.
            _ = server.readable() => false,
        };
        if is_http {
            drop(server);
            intercept::serve(gateway, client, kept, plain, tunnel.into_stream(), false).await;
            close(&log, CloseReason::EndOfInput);
            return;
        }
        tokio::select! {
            () = pass(tunnel, server, &log) => {}
            _ = phase.wait_for(|phase| *phase == Phase::Stopping) => close(&log, CloseReason::Stopped),
        }
        drop(kept);
    }
}

pub(super) fn note_connect(log: &Log, client: Client, url: &OriginUrl, version: Version) {
    let head = RequestHead {
        method: "CONNECT".into(),
        target: format!("{}:{}", url.host, url.port),
        version: version_of(version),
        fields: Fields::default(),
    };
    log.note_all(
        Direction::ToServer,
        [
            EventBody::Opened(peer(client)),
            EventBody::Head(Box::new(Head::Request(head))),
        ],
    );
}

fn note_connected(log: &Log) {
    let head = ResponseHead {
        status: 200,
        ..ResponseHead::default()
    };
    log.note(
        Direction::ToClient,
        EventBody::Head(Box::new(Head::Response(head))),
    );
}

/// The answer if there is no connection to a server, because of an error or a timeout.
fn unreached(error: Option<&io::Error>, url: &OriginUrl) -> LocalAnswer {
    let to = url.authority();
    match error {
        Some(error) => {
            let words = format!("cannot connect to {to}: {error}");
            let (why, cause) = match error.kind() {
                io::ErrorKind::PermissionDenied => (InPlace::NotAllowed, InPlaceCause::Blocked),
                _ => (InPlace::Unreachable, InPlaceCause::ConnectionFailed),
            };
            LocalAnswer::new(LocalAnswer::status_of(error), why, cause, words)
                .about(format!("{to}: {error}"))
        }
        None => LocalAnswer::new(
            StatusCode::BAD_GATEWAY,
            InPlace::TimedOut,
            InPlaceCause::ConnectTimeout,
            format!("connecting to {to} timed out"),
        )
        .about(to),
    }
}

fn close(log: &Log, reason: CloseReason) {
    log.note(Direction::ToServer, EventBody::Closed(reason));
    log.note(Direction::ToClient, EventBody::Closed(reason));
}

/// Forwards the bytes of a tunnel in both directions, until both are done.
async fn pass(tunnel: Tunnel, server: TcpStream, log: &Log) {
    let (from_client, to_client) = tunnel.into_halves();
    let (from_server, to_server) = server.into_split();
    tokio::join!(
        one_way(from_client, to_server, Direction::ToServer, log),
        one_way(from_server, to_client, Direction::ToClient, log),
    );
}

async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    dir: Direction,
    log: &Log,
) {
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = 0;
    let reason = loop {
        let Ok(length) = from.read(&mut buffer).await else {
            break CloseReason::Aborted;
        };
        let chunk = buffer.part(..length);
        if chunk.is_empty() {
            break CloseReason::EndOfInput;
        }
        if to.write_all(chunk).await.is_err() {
            break CloseReason::ReceiverGone;
        }
        bytes += length as u64;
    };
    // The other direction may still have data.
    drop(tokio::time::timeout(Duration::from_secs(1), to.shutdown()).await);
    log.note_all(dir, [EventBody::Part { bytes }, EventBody::Closed(reason)]);
}
