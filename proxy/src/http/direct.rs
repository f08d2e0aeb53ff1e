//! Sends one request to an MCP server over HTTP verbatim, and returns its whole answer.
//!
//! For code that checks a server's heads and statuses, or sends requests that no client sends. It
//! does not retry, follow redirects or repair anything.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tapewright_engine::{SseFramer, SseItem};
use tapewright_schemas::event::Payload;

use super::body::Outbound;
use super::fetch::FetchError;
use super::origin::Origin;
use crate::bridge::mirror;
use crate::clock::Clock;

/// Sends requests to a server directly.
#[derive(Debug)]
pub struct Direct {
    origin: Arc<Origin>,
    fields: Vec<(HeaderName, HeaderValue)>,
    runtime: tokio::runtime::Runtime,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Question {
    /// `POST`, …
    pub method: Method,
    /// Another path of the same server; by default that of its URL.
    pub path: Option<String>,
    /// Header fields in addition to `Host` and those that the user sets; a field with an empty
    /// value is not sent.
    pub head: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// The timeout for the whole exchange.
    pub timeout: Duration,
    /// Whether the head of the answer is sufficient.
    pub only_head: bool,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its status.
    pub status: StatusCode,
    /// Its header fields.
    pub head: HeaderMap,
    /// Its messages: a document, or the data of each event of a stream.
    pub messages: Vec<Bytes>,
    /// The time until the last of these.
    pub took: Duration,
    /// Whether the timeout passed, or the limit was exceeded, before it ended.
    pub cut: bool,
}

/// The maximum length of a body, in bytes.
const MOST_BYTES: usize = 16 << 20;

impl Direct {
    /// Prepares requests to a server; `fields` are set on every request, before its own.
    pub fn new(
        origin: Arc<Origin>,
        fields: Vec<(HeaderName, HeaderValue)>,
    ) -> Result<Self, FetchError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(FetchError::Runtime)?;
        Ok(Self {
            origin,
            fields,
            runtime,
        })
    }

    /// Sends one request, and reads its answer until `enough` returns true for a message. Blocks.
    pub fn ask(
        &self,
        question: Question,
        mut enough: impl FnMut(&[u8]) -> bool,
    ) -> Result<Response, FetchError> {
        let timeout = question.timeout;
        let clock = Clock::start();
        let only_head = question.only_head;
        self.runtime.block_on(async {
            let send = self.origin.send(self.request(question));
            let answer = tokio::time::timeout(timeout, Box::pin(send)).await;
            let answer = answer.map_err(|_| FetchError::TimedOut(timeout))??;
            let (head, body) = answer.response.into_parts();
            let mut response = Response {
                status: head.status,
                head: head.headers,
                messages: Vec::new(),
                took: clock.elapsed(),
                cut: false,
            };
            if only_head {
                return Ok(response);
            }
            let left = timeout.saturating_sub(clock.elapsed());
            let read = read(body, &mut response, clock, &mut enough);
            let read = tokio::time::timeout(left, Box::pin(read)).await;
            match read {
                Ok(Ok(true)) => answer.lease.complete(),
                Ok(Ok(false)) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => response.cut = true,
            }
            Ok(response)
        })
    }

    fn request(&self, question: Question) -> Request<Outbound> {
        let has_body = !question.body.is_empty();
        let mut request = Request::new(if has_body {
            Outbound::whole(question.body)
        } else {
            Outbound::empty()
        });
        *request.method_mut() = question.method;
        let path = question.path.as_deref();
        *request.uri_mut() = path
            .unwrap_or(&self.origin.url().path)
            .parse()
            .unwrap_or(Uri::from_static("/"));
        let head = request.headers_mut();
        if let Ok(host) = HeaderValue::try_from(self.origin.url().authority()) {
            head.insert(header::HOST, host);
        }
        let agent = concat!("tapewright/", env!("CARGO_PKG_VERSION"));
        head.insert(header::USER_AGENT, HeaderValue::from_static(agent));
        head.extend(self.fields.iter().cloned());
        for (name, value) in &question.head {
            if value.is_empty() {
                head.remove(name);
            } else {
                head.insert(name, value.clone());
            }
        }
        request
    }
}

/// Reads a body; returns true if it was complete.
async fn read(
    mut body: Incoming,
    response: &mut Response,
    clock: Clock,
    enough: &mut impl FnMut(&[u8]) -> bool,
) -> Result<bool, FetchError> {
    let kind = response.head.get(header::CONTENT_TYPE);
    let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let mut framer = SseFramer::new(MOST_BYTES);
    let (mut whole, mut length) = (BytesMut::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| FetchError::Body)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        length += data.len();
        if length > MOST_BYTES {
            response.cut = true;
            return Ok(false);
        }
        if !is_stream {
            whole.extend_from_slice(&data);
            continue;
        }
        framer.feed(&data);
        while let Some(item) = framer.poll() {
            let SseItem::Event(event) = item else {
                continue;
            };
            if let (true, Some(Payload::Whole(message))) = (event.is_message(), event.data) {
                let is_last = enough(&message);
                response.messages.push(message);
                response.took = clock.elapsed();
                if is_last {
                    return Ok(false);
                }
            }
        }
    }
    response.took = clock.elapsed();
    if !whole.is_empty() {
        response.messages.push(whole.freeze());
    }
    Ok(true)
}

/// The header fields that a client of a revision sends with a message; `session` is the session id
/// from the server.
#[must_use]
pub fn head_of(
    method: Option<&str>,
    params: Option<&[u8]>,
    revision: Option<&str>,
    session: Option<&HeaderValue>,
) -> HeaderMap {
    let mut head = HeaderMap::new();
    let json = HeaderValue::from_static("application/json");
    head.insert(header::CONTENT_TYPE, json);
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    head.insert(header::ACCEPT, accept);
    if let Some(session) = session {
        head.insert(crate::bridge::client::SESSION, session.clone());
    }
    if let Some(version) = revision.and_then(mirror::encode) {
        head.insert(mirror::VERSION, version);
    }
    // The stateless era repeats parts of the body.
    if let (Some(method), true) = (method, is_stateless(revision)) {
        head.extend(mirror::encode(method).map(|value| (mirror::METHOD, value)));
        let name = mirror::name(method, params).and_then(|name| mirror::encode(&name));
        head.extend(name.map(|value| (mirror::NAME, value)));
    }
    head
}

fn is_stateless(revision: Option<&str>) -> bool {
    use tapewright_schemas::era::Era;
    Era::of_revision(revision) == Era::Stateless
}
