//! One request with a batch of spans.

use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderName, HeaderValue, Method, Request, Uri, header};
use http_body_util::{BodyExt as _, Limited};

use super::Frame;
use super::queue::Item;
use super::retry::{Verdict, verdict};
use crate::http::body::Outbound;
use crate::http::origin::{Origin, SendError};

/// The maximum length of an answer, in bytes.
const LONGEST: usize = 64 << 10;

/// The body of a request: consecutive spans with the same frame share it.
pub(super) fn body(items: &[Item]) -> Vec<u8> {
    let mut out = br#"{"resourceSpans":["#.to_vec();
    let mut frame: Option<&Arc<Frame>> = None;
    for item in items {
        match frame {
            Some(open) if Arc::ptr_eq(open, &item.frame) => out.push(b','),
            open => {
                if let Some(open) = open {
                    out.extend_from_slice(&open.after);
                    out.push(b',');
                }
                out.extend_from_slice(&item.frame.before);
                frame = Some(&item.frame);
            }
        }
        out.extend_from_slice(&item.span);
    }
    if let Some(open) = frame {
        out.extend_from_slice(&open.after);
    }
    out.extend_from_slice(b"]}");
    out
}

/// Compresses a body.
pub(crate) fn gzip(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// Posts a body; returns the collector's verdict.
pub(crate) async fn post(
    origin: &Arc<Origin>,
    fields: &[(HeaderName, HeaderValue)],
    body: Bytes,
    is_gzip: bool,
) -> Result<(u16, Verdict), SendError> {
    let mut request = Request::new(Outbound::whole(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = origin.url().path.parse().unwrap_or(Uri::from_static("/"));
    let head = request.headers_mut();
    if let Ok(host) = HeaderValue::try_from(origin.url().authority()) {
        head.insert(header::HOST, host);
    }
    let agent = HeaderValue::from_static(concat!("tapewright/", env!("CARGO_PKG_VERSION")));
    head.insert(header::USER_AGENT, agent);
    for (name, value) in fields {
        head.insert(name, value.clone());
    }
    let json = HeaderValue::from_static("application/json");
    head.insert(header::CONTENT_TYPE, json);
    if is_gzip {
        let gzip = HeaderValue::from_static("gzip");
        head.insert(header::CONTENT_ENCODING, gzip);
    }
    let answer = origin.send(request).await?;
    let (head, body) = answer.response.into_parts();
    let read = Limited::new(body, LONGEST).collect().await;
    // If the body was cut off, the status is sufficient; the connection is not reused then.
    let body = read.map(|body| {
        answer.lease.complete();
        body.to_bytes()
    });
    let body = body.unwrap_or_default();
    let verdict = verdict(head.status, &head.headers, &body);
    Ok((head.status.as_u16(), verdict))
}
