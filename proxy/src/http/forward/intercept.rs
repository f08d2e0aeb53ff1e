//! Intercepted tunnels: tapewright terminates TLS with a certificate of its authority, or the
//! tunnel has no TLS.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::upgrade::OnUpgrade;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use super::Authority;
use super::first::Tunnel;
use crate::http::body::Outbound;
use crate::http::gateway::{Gateway, RequestTarget};
use crate::http::listen::{Client, Handler, Served, TunnelSlot};
use crate::http::origin::Origin;

/// An intercepted tunnel to one origin.
pub(super) struct Opened {
    pub(super) gateway: Arc<Gateway>,
    pub(super) client: Client,
    pub(super) kept: TunnelSlot,
    /// The server, with TLS and without.
    pub(super) origin: Arc<Origin>,
    pub(super) plain: Arc<Origin>,
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
        let handshake = TlsAcceptor::from(config).accept(tunnel.into_stream());
        // A client that does not trust the certificate disconnects.
        let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, handshake).await else {
            return;
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
}
