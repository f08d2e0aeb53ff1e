//! The forward proxy: clients send it requests for any server, and nothing is rewritten.
//!
//! `http` comes in absolute form (RFC 9112 §3.2.2), `https` through a tunnel (RFC 9110 §9.3.6). A
//! tunnel with TLS is forwarded unread or, with a certificate authority that the client is
//! configured to trust, intercepted and read like any other traffic. Some clients also open tunnels
//! for `http`; these need no certificate.

mod authority;
mod first;
mod intercept;
mod tunnel;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::{Method, Request, Response};
use hyper::body::Incoming;

use super::body::Outbound;
use super::gateway::{Gateway, LocalAnswer, RequestTarget, health, is_health};
use super::listen::Client;
use super::origin::{Origin, OriginSettings, OriginUrl, Scheme};
use tapewright_schemas::event::InPlaceCause;

pub use self::authority::{
    Authority, AuthorityProblem, AuthoritySettings, BadHost, Change, Changed, Hosts,
};

/// A forward proxy.
pub struct Forward {
    settings: OriginSettings,
    origins: Mutex<HashMap<OriginUrl, Arc<Origin>>>,
    // Intercepts tunnels, if that was requested.
    authority: Option<Arc<Authority>>,
}

/// The maximum number of origins with pooled connections.
const MOST_ORIGINS: usize = 256;

impl Forward {
    /// A forward proxy; with an `authority` it intercepts tunnels.
    #[must_use]
    pub fn new(settings: OriginSettings, authority: Option<Arc<Authority>>) -> Self {
        Self {
            settings,
            origins: Mutex::default(),
            authority,
        }
    }

    /// Answers a request to the proxy itself.
    pub(crate) async fn handle(
        &self,
        gateway: &Arc<Gateway>,
        client: Client,
        request: Request<Incoming>,
    ) -> Response<Outbound> {
        if let Err(refused) =
            gateway
                .guard
                .check_proxied(request.method(), request.uri(), request.headers())
        {
            return gateway.refuse(client, &request, &LocalAnswer::refused(refused));
        }
        if *request.method() == Method::CONNECT {
            return self.connect(gateway, client, request).await;
        }
        let url = request
            .uri()
            .authority()
            .filter(|_| request.uri().scheme_str() == Some("http"))
            .and_then(|authority| OriginUrl::of_authority(Scheme::Http, authority));
        let Some(url) = url else {
            if is_health(&request) {
                return health();
            }
            let why =
                "this is a forward proxy; set HTTP_PROXY to it instead of connecting directly";
            let ours = LocalAnswer::bad_request(InPlaceCause::NotProxied, why);
            return gateway.refuse(client, &request, &ours);
        };
        let goal = RequestTarget::known(self.origin(url));
        gateway.exchange(client, goal, request).await
    }

    /// The connections to an origin.
    fn origin(&self, mut url: OriginUrl) -> Arc<Origin> {
        "/".clone_into(&mut url.path);
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if origins.len() >= MOST_ORIGINS && !origins.contains_key(&url) {
            // Drop unused ones: exchanges in progress hold their own.
            origins.retain(|_, origin| Arc::strong_count(origin) > 1);
        }
        let origin = origins
            .entry(url)
            .or_insert_with_key(|url| Origin::new(url.clone(), self.settings.clone()));
        Arc::clone(origin)
    }
}
