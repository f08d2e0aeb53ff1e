//! Handles the requests of a gateway's clients.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tapewright_schemas::event::{InPlace, InPlaceCause};

use super::goal::{LocalAddress, RequestTarget};
use super::ours::LocalAnswer;
use super::{Gateway, Route};
use crate::http::body::Outbound;
use crate::http::listen::{Client, Handler};

/// Handles the requests of a gateway's clients.
#[derive(Clone)]
pub(crate) struct Front(pub(crate) Arc<Gateway>);

impl Handler for Front {
    async fn handle(&self, client: Client, request: Request<Incoming>) -> Response<Outbound> {
        let gateway = &self.0;
        let found = match &gateway.route {
            Route::Reverse(origin) => Ok((Arc::clone(origin), None)),
            Route::Models(providers) => providers.find(&request),
            Route::Forward(forward) => {
                return Box::pin(forward.handle(gateway, client, request)).await;
            }
        };
        let checked = gateway
            .guard
            .check(request.method(), request.uri(), request.headers());
        if let Err(refused) = checked {
            return gateway.refuse(client, &request, &LocalAnswer::refused(refused));
        }
        if *request.method() == Method::CONNECT {
            let why = "this is not a forward proxy; start one with --forward-proxy";
            let ours = LocalAnswer::new(
                StatusCode::NOT_IMPLEMENTED,
                InPlace::Unsupported,
                InPlaceCause::NoForwardProxy,
                why,
            );
            return gateway.refuse(client, &request, &ours);
        }
        if is_health(&request) && !gateway.pass_healthz {
            return health();
        }
        let (origin, mount) = match found {
            Ok(found) => found,
            Err(ours) => return gateway.refuse(client, &request, &ours),
        };
        let ours = LocalAddress::by(client, &request);
        let goal = RequestTarget {
            origin,
            ours,
            mount,
        };
        gateway.exchange(client, goal, request).await
    }

    fn unreadable(&self, client: Client, is_too_long: bool) {
        self.0.unreadable(client, is_too_long);
    }
}

pub(crate) fn is_health(request: &Request<Incoming>) -> bool {
    request.uri().path() == "/healthz" && matches!(*request.method(), Method::GET | Method::HEAD)
}

pub(crate) fn health() -> Response<Outbound> {
    Response::new(Outbound::whole("ok\n".into()))
}
