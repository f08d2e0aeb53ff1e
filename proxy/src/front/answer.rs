//! The answers of the front.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_schemas::event::InPlace;

use super::check::Refusal;
use super::exchange::{FrontExchange, Reason};
use crate::bridge::ours;
use crate::http::body::Outbound;
use crate::http::listen::CHALLENGE;

/// The header field of every answer made by tapewright, as in the gateway.
const MARK: &str = "x-tapewright";

/// A message of the server.
pub(crate) fn message(status: StatusCode, line: Bytes) -> Response<Outbound> {
    typed(status, "application/json", line)
}

/// The receipt for a notification or a response.
pub(crate) fn accepted() -> Response<Outbound> {
    status(StatusCode::ACCEPTED)
}

/// A status without a body.
pub(crate) fn status(status: StatusCode) -> Response<Outbound> {
    let mut response = Response::new(Outbound::empty());
    *response.status_mut() = status;
    response
}

/// A body with its content type.
pub(crate) fn typed(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Outbound> {
    let mut response = Response::new(Outbound::whole(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The head of an event stream.
pub(crate) fn events(body: Outbound) -> Response<Outbound> {
    let mut response = Response::new(body);
    let head = response.headers_mut();
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache, no-transform"),
        // Proxies must not buffer events.
        ("x-accel-buffering", "no"),
    ] {
        head.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A refusal by the front, as a JSON-RPC error. `id` is the source text of the request's id, if
/// there is one.
pub(crate) fn refused(
    exchange: &FrontExchange,
    refusal: &Refusal,
    id: Option<&[u8]>,
) -> Response<Outbound> {
    let code = refusal.status.as_u16();
    let line = ours::coded(
        id.unwrap_or(b"null"),
        refusal.code,
        &refusal.why,
        Some(code),
    );
    let mut response = message(refusal.status, line);
    let mark = HeaderValue::from_static("answered in the server's place");
    response.headers_mut().insert(MARK, mark);
    let allow = match refusal.status {
        StatusCode::METHOD_NOT_ALLOWED => Some((header::ALLOW, "GET, POST, DELETE")),
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => Some((header::PROXY_AUTHENTICATE, CHALLENGE)),
        StatusCode::SERVICE_UNAVAILABLE => Some((header::RETRY_AFTER, "5")),
        _ => None,
    };
    if let Some((name, value)) = allow {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    let why = InPlace::of_status(code);
    let reason = Reason {
        why,
        cause: Some(refusal.cause),
        about: refusal.about.clone(),
    };
    given(exchange, response, Some(reason))
}

/// Records an answer whose body is complete.
pub(crate) fn given(
    exchange: &FrontExchange,
    response: Response<Outbound>,
    ours: Option<Reason>,
) -> Response<Outbound> {
    exchange.answers(&response, ours);
    exchange.ended().complete();
    response
}
