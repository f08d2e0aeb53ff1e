//! Requests to a front that are not MCP, for a separate handler.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use tapewright_engine::{SseFramer, SseItem};
use tapewright_schemas::event::{
    CloseReason, Direction, EventBody, Fields, InPlace, InPlaceCause, Payload, SseNote,
};
use tokio::time::Sleep;

use super::body::BufferedBody;
use super::check::Refusal;
use super::endpoint::{FrontRequest, Refused, plain};
use super::exchange::{Ended, FrontExchange, Reason};
use super::shared::{Front, unavailable};
use crate::http::body::{BodyError, Outbound};
use crate::http::fields::to_vocabulary;

/// Answers requests that are not MCP.
pub trait Answers: Send + Sync {
    /// The answer to a request. Called on a thread that may block.
    fn answer(&self, request: &Request) -> Reply;

    /// The answer to a request whose body was refused, with this status and for this reason; `None`
    /// if any answer will do. The request has no body.
    fn refuse(&self, _request: &Request, _status: u16, _why: &str) -> Option<OtherResponse> {
        None
    }
}

/// The handler of requests that are not MCP.
#[derive(Clone)]
pub struct NonMcpHandler(pub Arc<dyn Answers>);

impl fmt::Debug for NonMcpHandler {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("NonMcpHandler")
    }
}

/// A complete request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `POST`, `GET`, …
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Its header fields, in order.
    pub fields: Fields,
    /// Its decoded body.
    pub body: Bytes,
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No answer, until the client leaves.
    Silence,
    /// A response.
    Response(OtherResponse),
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherResponse {
    /// The delay before it starts.
    pub wait: Duration,
    /// Its status.
    pub status: u16,
    /// Its header fields, in order. A field that HTTP does not allow is omitted.
    pub fields: Fields,
    /// Its body in parts, each with the delay before it.
    pub parts: VecDeque<(Duration, Bytes)>,
    /// Whether the body is cut off after the last part.
    pub breaks_off: bool,
    /// Why tapewright answers in the upstream's place, if it does.
    pub ours: Option<InPlace>,
}

/// The maximum length of a body, in bytes, encoded or decoded: twice the limit of any provider.
const MOST: usize = 64 << 20;

impl Front {
    /// Answers a request that is not MCP.
    pub(crate) async fn answer_beside(
        &self,
        beside: NonMcpHandler,
        asked: FrontRequest,
    ) -> Result<Response<Outbound>, Refused> {
        let FrontRequest {
            head,
            body,
            exchange,
            ..
        } = asked;
        let is_post = head.method == Method::POST;
        let mut request = asked_for(&head);
        let held = self.read_decoded(body, &head.headers).await;
        let held = held.map_err(|refusal| {
            if is_post {
                exchange.read(CloseReason::Aborted);
            }
            plain(refusal)
        })?;
        if !held.bytes.is_empty() {
            let payload = Payload::Whole(held.bytes.clone());
            exchange.says(Direction::ToServer, EventBody::Body { payload });
        }
        if is_post {
            exchange.read(CloseReason::EndOfInput);
        }
        request.body = held.bytes.clone();
        let answering = tokio::task::spawn_blocking(move || beside.0.answer(&request)).await;
        drop(held);
        match answering {
            Ok(Reply::Response(given)) => Ok(given.into_response(&exchange).await),
            // Until the client leaves, or the front ends.
            Ok(Reply::Silence) => std::future::pending().await,
            Err(_) => Err(plain(unavailable(
                InPlaceCause::Internal,
                "cannot answer the request",
            ))),
        }
    }

    /// The handler of a request, if it is not MCP, and the request without its body.
    pub(crate) fn beside(&self, head: &Parts) -> Option<(NonMcpHandler, Request)> {
        let path = head.uri.path();
        let is_mcp = path == self.settings.path || matches!(path, "/sse" | "/messages");
        let beside = self.settings.beside.clone().filter(|_| !is_mcp)?;
        Some((beside, asked_for(head)))
    }

    /// Reads a whole body, and decodes it.
    async fn read_decoded(
        &self,
        body: Incoming,
        head: &HeaderMap,
    ) -> Result<BufferedBody, Refusal> {
        let taken = self.read_at_most(body, MOST).await?;
        if !head.contains_key(header::CONTENT_ENCODING) {
            return Ok(taken);
        }
        let head = head.clone();
        let decoding = tokio::task::spawn_blocking(move || taken.decoded(&head, MOST)).await;
        let why = "cannot read the request";
        decoding.unwrap_or_else(|_| Err(unavailable(InPlaceCause::Internal, why)))
    }
}

impl NonMcpHandler {
    /// A refusal by the front in the form of the handler's answers.
    pub(crate) async fn refused(
        &self,
        request: &Request,
        refusal: &Refusal,
        exchange: &FrontExchange,
    ) -> Option<Response<Outbound>> {
        let given = self
            .0
            .refuse(request, refusal.status.as_u16(), &refusal.why)?;
        Some(given.into_response(exchange).await)
    }
}

/// A request without its body.
fn asked_for(head: &Parts) -> Request {
    let target = head.uri.path_and_query();
    let target = target.map_or_else(|| head.uri.path(), |one| one.as_str());
    Request {
        method: head.method.to_string(),
        target: target.to_owned(),
        fields: to_vocabulary(&head.headers),
        body: Bytes::new(),
    }
}

impl OtherResponse {
    async fn into_response(self, exchange: &FrontExchange) -> Response<Outbound> {
        if !self.wait.is_zero() {
            tokio::time::sleep(self.wait).await;
        }
        let mut response = Response::new(());
        let status = StatusCode::from_u16(self.status);
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in self.fields.iter() {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                response.headers_mut().append(name, value);
            }
        }
        let kind = self.fields.get("content-type").unwrap_or_default();
        let is_events = kind.starts_with("text/event-stream");
        exchange.answers(&response, self.ours.map(Reason::plain));
        let mut parts = self.parts;
        let at_once = parts.iter().all(|(wait, _)| wait.is_zero());
        let framer = is_events.then(|| SseFramer::new(MOST));
        let mut told = TapedResponse {
            exchange: exchange.clone(),
            framer,
        };
        let mut ended = exchange.ended();
        if at_once && !is_events && !self.breaks_off {
            let all: Vec<Bytes> = parts.drain(..).map(|(_, part)| part).collect();
            let all = Bytes::from(all.concat());
            told.part(&all);
            ended.complete();
            return response.map(|()| Outbound::whole(all));
        }
        let body = Paced {
            parts,
            sleep: None,
            breaks_off: self.breaks_off,
            told,
            ended,
        };
        response.map(|()| Outbound::streaming(body))
    }
}

/// A body with a delay before each part.
struct Paced {
    parts: VecDeque<(Duration, Bytes)>,
    sleep: Option<Pin<Box<Sleep>>>,
    breaks_off: bool,
    told: TapedResponse,
    ended: Ended,
}

impl Body for Paced {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        let Some((wait, _)) = this.parts.front() else {
            if this.breaks_off {
                this.ended.cut();
                return Poll::Ready(Some(Err("the recorded body broke off here".into())));
            }
            this.ended.complete();
            return Poll::Ready(None);
        };
        if !wait.is_zero() {
            let wait = *wait;
            let sleep = this
                .sleep
                .get_or_insert_with(|| Box::pin(tokio::time::sleep(wait)));
            ready!(sleep.as_mut().poll(context));
            this.sleep = None;
        }
        let part = this.parts.pop_front().map(|(_, part)| part);
        let part = part.unwrap_or_default();
        this.told.part(&part);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }
}

/// Records a response.
struct TapedResponse {
    exchange: FrontExchange,
    // Splits an event stream into its events.
    framer: Option<SseFramer>,
}

impl TapedResponse {
    fn part(&mut self, part: &Bytes) {
        let say = |body| self.exchange.says(Direction::ToClient, body);
        let Some(framer) = &mut self.framer else {
            if !part.is_empty() {
                let payload = Payload::Whole(part.clone());
                say(EventBody::Body { payload });
            }
            return;
        };
        framer.feed(part);
        while let Some(item) = framer.poll() {
            let (note, data) = match item {
                SseItem::Comment(text) => {
                    let comment = Some(String::from_utf8_lossy(&text).into_owned());
                    (
                        SseNote {
                            comment,
                            ..SseNote::default()
                        },
                        None,
                    )
                }
                SseItem::Event(event) => {
                    let text = |bytes: Option<Bytes>| {
                        bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                    };
                    let note = SseNote {
                        id: text(event.id),
                        event: text(event.event),
                        retry_ms: event.retry_ms,
                        ..SseNote::default()
                    };
                    (note, event.data)
                }
            };
            if note != SseNote::default() || data.is_none() {
                say(EventBody::Sse(Box::new(note)));
            }
            if let Some(payload) = data {
                say(EventBody::Body { payload });
            }
        }
    }
}
