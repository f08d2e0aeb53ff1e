//! One request to the server: its head, its redirects, and sending its body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;
use tapewright_schemas::event::CloseReason;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::notes::Noted;
use super::shared::Shared;
use super::target;
use crate::http::body::{BodyError, Outbound};
use crate::http::origin::{Answer, OriginUrl, SendError};

/// Signals by being dropped that the order of messages no longer depends on something.
pub(crate) type Gate = oneshot::Sender<()>;

/// The maximum length of an HTTP error's body that is read, in bytes.
const ERROR_BODY: usize = 64 * 1024;
/// The timeout for the body of an HTTP error.
const ERROR_TIME: std::time::Duration = std::time::Duration::from_secs(5);

/// A request without an answer that an MCP client expects.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error(transparent)]
    Send(#[from] SendError),
    #[error("the server redirects to another origin; use that URL instead: {0}")]
    OtherOrigin(String),
    #[error("the server redirects more than {0} times")]
    Redirects(u8),
}

/// A request to the server.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) url: OriginUrl,
    /// The header fields that the protocol requires.
    pub(crate) head: HeaderMap,
    /// The message, for a POST.
    pub(crate) body: Option<Bytes>,
    /// It must not overtake earlier messages.
    pub(crate) behind: bool,
    /// Dropped when the connection has taken the body.
    pub(crate) written: Option<Gate>,
}

impl Shared {
    /// Sends a request, and follows redirects within the same origin.
    pub(crate) async fn ask(&self, mut ask: Ask) -> Result<Answer, RequestError> {
        for _ in 0..=self.manners.redirects {
            let body = match &ask.body {
                Some(line) => Outbound::streaming(Message {
                    data: Some(line.clone()),
                    _written: ask.written.take(),
                }),
                None => Outbound::empty(),
            };
            let mut request = Request::new(body);
            *request.method_mut() = ask.method.clone();
            *request.uri_mut() = ask.url.path.parse().unwrap_or(Uri::from_static("/"));
            let noted = self.complete(&ask, request.headers_mut());
            let sent = if ask.behind {
                self.origin.send_behind(request).await
            } else {
                self.origin.send(request).await
            };
            let answer = note(noted, sent)?;
            if let Some(tap) = &self.heads
                && ask.method == Method::POST
                && answer.response.status() != StatusCode::ACCEPTED
            {
                tap(answer.response.status(), answer.response.headers());
            }
            let follows = self.manners.redirects > 0;
            let Some(to) = redirect(&ask, &answer).filter(|_| follows) else {
                return Ok(answer);
            };
            let Some(to) = target::resolve(&ask.url, &to) else {
                return Ok(answer);
            };
            if !to.is_same_origin(&ask.url) {
                return Err(RequestError::OtherOrigin(to.origin()));
            }
            if answer.response.status() == StatusCode::PERMANENT_REDIRECT {
                self.moved(&ask.url, to.clone());
            }
            ask.url = to;
        }
        Err(RequestError::Redirects(self.manners.redirects))
    }

    /// Completes the head of a request, and records it without the user's fields.
    fn complete(&self, ask: &Ask, head: &mut HeaderMap) -> Option<Noted> {
        *head = self.head(ask);
        // The user's fields take precedence.
        for (name, _) in &self.fields {
            head.remove(name);
        }
        let target = if ask.url == *self.origin.url() {
            // The query of the user's URL may be a secret.
            ask.url.path.split('?').next().unwrap_or_default()
        } else {
            &ask.url.path
        };
        let begun = self.notes.as_ref();
        let begun = begun.map(|notes| notes.begin(&ask.method, &ask.url, target, head));
        for (name, value) in &self.fields {
            head.append(name.clone(), value.clone());
        }
        begun
    }

    fn head(&self, ask: &Ask) -> HeaderMap {
        let mut head = HeaderMap::new();
        if let Ok(host) = HeaderValue::try_from(ask.url.authority()) {
            head.insert(header::HOST, host);
        }
        let accept = match ask.method {
            Method::POST => "application/json, text/event-stream",
            Method::GET => "text/event-stream",
            _ => "*/*",
        };
        head.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if ask.body.is_some() {
            let json = HeaderValue::from_static("application/json");
            head.insert(header::CONTENT_TYPE, json);
        }
        if self.manners.names_itself {
            let name = concat!("tapewright/", env!("CARGO_PKG_VERSION"));
            head.insert(header::USER_AGENT, HeaderValue::from_static(name));
        }
        for (name, value) in &ask.head {
            head.append(name.clone(), value.clone());
        }
        head
    }
}

/// Records the outcome of a request. The answer passes the notes to the reader of its body.
fn note(noted: Option<Noted>, sent: Result<Answer, SendError>) -> Result<Answer, SendError> {
    let Some(noted) = noted else { return sent };
    match sent {
        Ok(mut answer) => {
            noted.answered(&answer.response);
            answer.response.extensions_mut().insert(noted);
            Ok(answer)
        }
        Err(error) => {
            noted.failed(&error);
            Err(error)
        }
    }
}

/// The target of a redirect that keeps the method.
fn redirect(ask: &Ask, answer: &Answer) -> Option<String> {
    let follows = match answer.response.status().as_u16() {
        307 | 308 => true,
        301..=303 => ask.method == Method::GET,
        _ => false,
    };
    let location = answer.response.headers().get(header::LOCATION)?;
    follows.then(|| location.to_str().ok().map(str::to_owned))?
}

/// The essence of a content type, in lower case.
pub(crate) fn content_type(answer: &Answer) -> String {
    let value = answer.response.headers().get(header::CONTENT_TYPE);
    let value = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Whether an answer is an event stream.
pub(crate) fn is_stream(answer: &Answer) -> bool {
    answer.response.status() == StatusCode::OK && content_type(answer) == "text/event-stream"
}

/// Why a body could not be read completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unread {
    #[error("the connection broke in the middle of the response")]
    Broken,
    #[error("the response is too long")]
    TooLong,
}

/// Reads a body of at most `limit` bytes.
pub(crate) async fn whole(answer: Answer, limit: usize) -> Result<Bytes, Unread> {
    let noted = answer.response.extensions().get::<Noted>().cloned();
    let read = read(answer, limit).await;
    if let Some(noted) = noted {
        match &read {
            Ok(body) => noted.body(body),
            Err(Unread::Broken) => noted.closed(CloseReason::Aborted),
            Err(Unread::TooLong) => noted.closed(CloseReason::ReceiverGone),
        }
    }
    read
}

async fn read(answer: Answer, limit: usize) -> Result<Bytes, Unread> {
    let Answer {
        response, lease, ..
    } = answer;
    let mut body = response.into_body();
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        if first.len() + all.len() + data.len() > limit {
            return Err(Unread::TooLong);
        }
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
    }
    lease.complete();
    Ok(if all.is_empty() { first } else { all.into() })
}

/// The body of an HTTP error, as far as it arrives in time.
pub(crate) async fn error_body(answer: Answer) -> Bytes {
    match timeout(ERROR_TIME, whole(answer, ERROR_BODY)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) | Err(_) => Bytes::new(),
    }
}

/// A message as a body, which signals when the connection has taken it.
struct Message {
    data: Option<Bytes>,
    _written: Option<Gate>,
}

impl Body for Message {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Poll::Ready(self.data.take().map(|data| Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.data.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.data.as_ref().map_or(0, |data| data.len() as u64))
    }
}
