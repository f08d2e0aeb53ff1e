//! Routes requests to the parts of the front.

use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tapewright_schemas::event::{CloseReason, InPlaceCause};

use super::answer::refused;
use super::check::Refusal;
use super::exchange::FrontExchange;
use super::shared::{Front, unavailable};
use crate::http::body::Outbound;
use crate::http::listen::Client;

/// One request, parsed.
pub(crate) struct FrontRequest {
    pub(crate) client: Client,
    pub(crate) head: http::request::Parts,
    pub(crate) body: Incoming,
    pub(crate) exchange: FrontExchange,
}

/// A refusal, and the source text of the refused request's id, if known.
pub(crate) type Refused = (Refusal, Option<Vec<u8>>);

/// A refusal of something that is not a JSON-RPC request.
pub(crate) fn plain(refusal: Refusal) -> Refused {
    (refusal, None)
}

impl Front {
    /// Answers one request.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        client: Client,
        request: Request<Incoming>,
    ) -> Response<Outbound> {
        if request.uri().path() == "/healthz" && request.method() == Method::GET {
            return Response::new(Outbound::whole("ok\n".into()));
        }
        let (head, body) = request.into_parts();
        let exchange = self.exchange(client, &head);
        let beside = self.beside(&head);
        let asked = FrontRequest {
            client,
            head,
            body,
            exchange: exchange.clone(),
        };
        let unanswered = exchange.unanswered();
        let answer = self.dispatch(asked).await;
        unanswered.answered();
        match answer {
            Ok(response) => response,
            Err((refusal, id)) => {
                if let Some((beside, request)) = beside
                    && let Some(response) = beside.refused(&request, &refusal, &exchange).await
                {
                    return response;
                }
                refused(&exchange, &refusal, id.as_deref())
            }
        }
    }

    async fn dispatch(
        self: &Arc<Self>,
        asked: FrontRequest,
    ) -> Result<Response<Outbound>, Refused> {
        let head = &asked.head;
        if let Err(refused) = self.guard.check(&head.method, &head.uri, &head.headers) {
            let why = refused.to_string();
            return Err(plain(Refusal::new(refused.status(), refused.cause(), why)));
        }
        let Ok(_place) = self.places.clone().try_acquire_owned() else {
            return Err(plain(unavailable(
                InPlaceCause::TooManyExchanges,
                "too many pending requests",
            )));
        };
        let path = head.uri.path();
        let is_endpoint = path == self.settings.path;
        if asked.head.method != Method::POST {
            asked.exchange.read(CloseReason::EndOfInput);
        }
        match (&head.method, path) {
            (&Method::POST, _) if is_endpoint => self.post(asked).await,
            (&Method::GET, _) if is_endpoint => self.get(&asked).map_err(plain),
            (&Method::DELETE, _) if is_endpoint => self.delete(&asked).map_err(plain),
            (&Method::GET, "/sse") => self.legacy_stream(&asked).await.map_err(plain),
            (&Method::POST, "/messages") => self.legacy_post(asked).await,
            (_, "/sse" | "/messages") => Err(plain(not_allowed())),
            _ if is_endpoint => Err(plain(not_allowed())),
            _ => {
                if let Some(beside) = self.settings.beside.clone() {
                    return self.answer_beside(beside, asked).await;
                }
                let why = format!("not found; the endpoint is {}", self.settings.path);
                let refusal = Refusal::new(StatusCode::NOT_FOUND, InPlaceCause::NoPath, why);
                Err(plain(refusal.about(&self.settings.path)))
            }
        }
    }
}

/// The method is not supported here.
pub(crate) fn not_allowed() -> Refusal {
    let why = "method not allowed";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, InPlaceCause::Method, why)
}
