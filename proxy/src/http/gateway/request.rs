//! The request to the server.

use http::header::{self, HeaderMap, HeaderValue};
use http::{Request, Uri, Version};
use hyper::body::Incoming;
use tapewright_schemas::event::RequestHead;

use super::Changes;
use crate::http::body::Outbound;
use crate::http::fields;
use crate::http::names::Names;
use crate::http::origin::Origin;

/// The original head of a request, for the tape.
pub(crate) fn head_of(request: &Request<Incoming>) -> RequestHead {
    let uri = request.uri();
    let target = if request.version() == Version::HTTP_2 || uri.scheme().is_none() {
        target_of(uri).to_owned()
    } else {
        uri.to_string()
    };
    RequestHead {
        method: fields::method_of(request.method()),
        target,
        version: fields::version_of(request.version()),
        fields: fields::to_vocabulary(request.headers()),
    }
}

/// Path and query.
pub(crate) fn target_of(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", |target| target.as_str())
}

/// The head to send, for one with these names: without connection-specific fields, and with the
/// server's `Host`. Method, target, all other fields and their order are unchanged.
pub(crate) fn to_server(
    mut parts: http::request::Parts,
    body: Outbound,
    origin: &Origin,
    changes: &Changes,
    is_reverse: bool,
    names: Names,
) -> Request<Outbound> {
    fields::strip(&mut parts.headers, names);
    if parts.version == Version::HTTP_2 {
        join_cookies(&mut parts.headers);
    }
    // The authority in the target takes precedence over `Host` (RFC 9112 §3.2.2).
    let target = parts.uri.authority().map(|authority| {
        let text = authority.as_str();
        text.rsplit_once('@').map_or(text, |(_, host)| host)
    });
    let kept = match target {
        _ if is_reverse && !changes.preserve_host => None,
        Some(target) => HeaderValue::try_from(target).ok(),
        None => parts.headers.get(header::HOST).cloned(),
    };
    let host = kept.or_else(|| origin.host().cloned());
    if let Some(host) = host {
        let is_said_once = parts.headers.get_all(header::HOST).iter().count() == 1;
        match parts.headers.get_mut(header::HOST) {
            // `insert` would first reserve space for another field.
            Some(said) if is_said_once => *said = host,
            _ => drop(parts.headers.insert(header::HOST, host)),
        }
    }
    for (name, value) in &changes.fields {
        parts.headers.insert(name.clone(), value.clone());
    }
    if let Some(target) = parts.uri.path_and_query().cloned() {
        parts.uri = Uri::from(target);
    } else {
        parts.uri = Uri::from_static("/");
    }
    Request::from_parts(parts, body)
}

/// HTTP/2 may split a cookie into several fields (RFC 9113 §8.2.3); HTTP/1.1 may not.
fn join_cookies(head: &mut HeaderMap) {
    let mut all = head.get_all(header::COOKIE).iter();
    let Some(first) = all.next() else { return };
    let mut joined = first.as_bytes().to_vec();
    let mut several = false;
    for more in all {
        several = true;
        joined.extend_from_slice(b"; ");
        joined.extend_from_slice(more.as_bytes());
    }
    if let (true, Ok(value)) = (several, HeaderValue::from_bytes(&joined)) {
        head.insert(header::COOKIE, value);
    }
}
