//! Intercepted tunnels: tapewright terminates TLS with a certificate of its authority, or the
//! tunnel has no TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use tapewright_schemas::event::{CloseReason, Direction, EventBody, InPlace, InPlaceCause};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use super::Authority;
use super::first::Tunnel;
use super::tunnel::note_connect;
use crate::http::body::Outbound;
use crate::http::gateway::{Gateway, LocalAnswer, RequestTarget, note_ours};
use crate::http::listen::{Client, Handler, Served, TunnelSlot};
use crate::http::origin::{Origin, alert_of};
use crate::http::sessions::SESSIONLESS;

/// An intercepted tunnel to one origin.
pub(super) struct Opened {
    pub(super) gateway: Arc<Gateway>,
    pub(super) client: Client,
    pub(super) kept: TunnelSlot,
    /// The server, with TLS and without.
    pub(super) origin: Arc<Origin>,
    pub(super) plain: Arc<Origin>,
    /// The version of the request for the tunnel.
    pub(super) version: Version,
    pub(super) authority: Arc<Authority>,
}

/// The timeout for the TLS handshake with a client.
const HANDSHAKE: Duration = Duration::from_secs(30);

impl Opened {
    pub(super) async fn run(self, upgrade: OnUpgrade) {
        let Ok(stream) = upgrade.await else { return };
        let mut tunnel = Tunnel::new(stream);
        if tunnel.is_plain_http().await {
            let stream = tunnel.into_stream();
            serve(
                self.gateway,
                self.client,
                self.kept,
                self.plain,
                stream,
                false,
            )
            .await;
            return;
        }
        let Ok(config) = self.authority.config_for(&self.origin.url().host) else {
            return;
        };
        if !tunnel.has_begun() {
            return;
        }
        let handshake = TlsAcceptor::from(config).accept(tunnel.into_stream());
        let stream = match tokio::time::timeout(HANDSHAKE, handshake).await {
            Ok(Ok(stream)) => stream,
            // A client that does not trust the certificate disconnects.
            failed => return self.refused(failed.ok().and_then(Result::err).as_ref()),
        };
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        serve(
            self.gateway,
            self.client,
            self.kept,
            self.origin,
            stream,
            http2,
        )
        .await;
    }
}

impl Opened {
    /// Records that the client did not finish the handshake, because of an error or a timeout.
    fn refused(&self, error: Option<&io::Error>) {
        let what = match (error.and_then(alert_of), error) {
            (Some(alert), _) => format!("the client sent the alert `{alert}`"),
            (None, Some(error)) => match error.kind() {
                io::ErrorKind::InvalidData => error.to_string(),
                _ => "the client closed the connection".to_owned(),
            },
            (None, None) => "the client did not finish in time".to_owned(),
        };
        let log = self.gateway.log(Some(SESSIONLESS));
        let url = self.origin.url();
        note_connect(&log, self.client, url, self.version);
        let left = EventBody::Closed(CloseReason::Aborted);
        log.note(Direction::ToServer, left);
        // The tunnel was opened, so this is the status that the client got.
        let (status, cause) = (StatusCode::OK, InPlaceCause::ClientTls);
        let ours = LocalAnswer::new(status, InPlace::NotAllowed, cause, what.clone());
        note_ours(&log, &ours.about(format!("{}: {what}", url.authority())));
        self.gateway.metrics.add_refused();
    }
}

/// Answers the requests in a tunnel to `origin`.
pub(super) async fn serve<S>(
    gateway: Arc<Gateway>,
    client: Client,
    kept: TunnelSlot,
    origin: Arc<Origin>,
    stream: S,
    http2: bool,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let served = Served {
        client,
        slot: Arc::clone(kept.0.slot()),
        limits: gateway.limits,
        phase: gateway.phase.clone(),
        handler: Inside { gateway, origin },
    };
    // From here on the place is only held while requests are in progress.
    drop(kept);
    served.serve_decided(stream, http2).await;
}

/// Answers the requests inside a tunnel.
#[derive(Clone)]
struct Inside {
    gateway: Arc<Gateway>,
    origin: Arc<Origin>,
}

impl Handler for Inside {
    async fn handle(&self, client: Client, request: Request<Incoming>) -> Response<Outbound> {
        let goal = RequestTarget::known(Arc::clone(&self.origin));
        self.gateway.exchange(client, goal, request).await
    }

    fn unreadable(&self, client: Client, is_too_long: bool) {
        self.gateway.unreadable(client, is_too_long);
    }
}
