//! Makes the parts of an entry from an HTTP exchange.

use tapewright_schemas::event::{CloseReason, Fields, Offset};
use tapewright_schemas::http_exchange::HttpExchange;

use super::entry::{Body, Content, Pair, PostData, Request, Response, Timings};
use super::pairs_of_query;

/// The request.
pub(super) fn request(origin: &str, exchange: &HttpExchange, body: Body) -> Request {
    let head = &exchange.request;
    let url = url(origin, head.fields.get("host"), &head.target);
    let body_size = i64::try_from(body.length).unwrap_or(i64::MAX);
    let post_data = (body.length > 0).then(|| {
        let mime_type = head
            .fields
            .get("content-type")
            .unwrap_or_default()
            .to_owned();
        PostData {
            mime_type,
            params: [],
            text: body.into_text().0,
        }
    });
    Request {
        method: head.method.clone().into_owned(),
        query_string: pairs_of_query(&head.target),
        url,
        http_version: head.version.clone().into_owned(),
        cookies: [],
        headers: pairs(&head.fields),
        post_data,
        headers_size: -1,
        body_size,
    }
}

/// The response.
pub(super) fn response(
    exchange: &HttpExchange,
    body: Body,
    error: Option<&'static str>,
) -> Response {
    let head = exchange.response.as_ref().map(|(_, head)| head);
    let field = |name| {
        head.and_then(|head| head.fields.get(name))
            .unwrap_or_default()
            .to_owned()
    };
    let status = exchange.status();
    let known = http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason());
    let size = body.length;
    let comment = if body.is_cut {
        "only a part of it was kept"
    } else {
        ""
    };
    let (text, encoding) = body.into_text();
    Response {
        status,
        status_text: known.unwrap_or_default().to_owned(),
        http_version: head
            .map(|head| head.version.clone().into_owned())
            .unwrap_or_default(),
        cookies: [],
        headers: head.map(|head| pairs(&head.fields)).unwrap_or_default(),
        content: Content {
            size,
            mime_type: field("content-type"),
            text: (!text.is_empty()).then_some(text),
            encoding,
            comment: comment.to_owned(),
        },
        redirect_url: field("location"),
        headers_size: -1,
        body_size: -1,
        error: if head.is_none() {
            Some(error.unwrap_or("no response"))
        } else {
            error
        },
    }
}

/// The absolute URL of a target: as in the client's request, otherwise on the server.
fn url(origin: &str, host: Option<&str>, target: &str) -> String {
    let target = escaped(target);
    if target.contains("://") {
        return target;
    }
    host.map_or_else(
        || format!("{origin}{target}"),
        |host| format!("http://{host}{target}"),
    )
}

/// Escapes characters that are not allowed in URLs, such as those of placeholders: programs would
/// read them as a fragment, or reject the URL.
fn escaped(target: &str) -> String {
    let mut escaped = String::with_capacity(target.len());
    for byte in target.bytes() {
        if byte.is_ascii_graphic() && !br##""#<>\^`{|}"##.contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            let digits = [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
            escaped.extend(digits.iter().flatten().map(char::to_ascii_uppercase));
        }
    }
    escaped
}

/// The timings.
pub(super) fn timings(exchange: &HttpExchange, last_sent: Offset) -> Timings {
    let sent = last_sent.max(exchange.at);
    let ended = exchange.ended.map(|(at, _)| at);
    let answered = exchange
        .response
        .as_ref()
        .map(|(at, _)| *at)
        .or(ended)
        .unwrap_or(sent)
        .max(sent);
    let ended = ended.unwrap_or(answered).max(answered);
    Timings::of(
        sent.since(exchange.at).millis(),
        answered.since(sent).millis(),
        ended.since(answered).millis(),
    )
}

/// Why a response is incomplete.
pub(super) fn failure(reason: CloseReason) -> Option<&'static str> {
    match reason {
        CloseReason::EndOfInput => None,
        CloseReason::ReceiverGone => Some("the client went away"),
        CloseReason::Policy => Some("ended by a fault"),
        CloseReason::Stopped => Some("the recorder ended"),
        _ => Some("the response broke off"),
    }
}

fn pairs(fields: &Fields) -> Vec<Pair> {
    fields
        .iter()
        .map(|(name, value)| Pair {
            name: name.to_owned(),
            value: value.to_owned(),
        })
        .collect()
}
