//! One POST: sends a message to the server, and its answer to the client.

use bytes::Bytes;
use http::{Method, StatusCode, header};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId};
use tapewright_schemas::era::Era;

use super::client::{Post, PostKind};
use super::line::id_source;
use super::line_queue::Gone;
use super::send::{Ask, Gate, content_type, error_body, is_stream, whole};
use super::shared::Shared;
use super::stream::{Cursor, Events};
use super::{legacy, ours};
use crate::http::origin::Answer;

/// What the next line of the client waits for.
#[derive(Debug)]
pub(crate) struct Gates {
    /// The connection has taken the message.
    pub(crate) written: Option<Gate>,
    /// The server has accepted the message.
    pub(crate) accepted: Option<Gate>,
    /// The exchange is over: dropped with the gates.
    pub(crate) _ended: Gate,
}

/// The outcome of a POST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Posted {
    /// The server accepted it.
    Accepted,
    /// The server refused it.
    Refused,
}

const NO_ANSWER: &str = "the server closed the stream before it answered";

impl Shared {
    /// Carries out one POST to its end.
    pub(crate) async fn post(&self, post: Post, mut gates: Gates) -> Result<Posted, Gone> {
        // Only the bridge waits for a notification to be sent.
        let busy = self.busy();
        let asked = self.ask(Ask {
            method: Method::POST,
            url: self.post_url(),
            head: post.headers.clone(),
            body: Some(post.line.clone()),
            behind: !post.cancels.is_empty(),
            written: gates.written.take(),
        });
        let answer = match asked.await {
            Ok(answer) => answer,
            Err(error) => {
                self.give_up(post.exchange, &chain(&error), None).await?;
                return Ok(Posted::Refused);
            }
        };
        if answer.response.status().is_success() {
            if post.kind == PostKind::Initialize {
                self.client().begins(answer.response.headers());
            }
            drop(busy);
            drop(gates.accepted.take());
            if !self.is_legacy() {
                self.read(&post, answer).await?;
            }
            return Ok(Posted::Accepted);
        }
        drop(busy);
        self.refused(&post, answer, gates).await
    }

    /// Reads the answer to an accepted message.
    async fn read(&self, post: &Post, answer: Answer) -> Result<(), Gone> {
        let status = answer.response.status();
        let strange = strange(&answer);
        if is_stream(&answer) && encoding(&answer).is_none() {
            let mut cursor = Cursor::default();
            let mut events = Events::new(answer, self.limit_bytes);
            self.follow(&mut events, &mut cursor).await?;
            if post.era == Era::Handshake {
                self.resume(post.exchange, &mut cursor).await?;
            }
            let why = if cursor.clipped {
                "the server's response is too long"
            } else {
                NO_ANSWER
            };
            return self.give_up(post.exchange, why, None).await;
        }
        let code = Some(status.as_u16());
        if content_type(&answer) == "application/json" && encoding(&answer).is_none() {
            let why = match whole(answer, self.limit_bytes).await {
                Ok(body) if is_message(&body) => {
                    self.deliver(&body).await?;
                    "the server answered a different request".to_owned()
                }
                Ok(body) if body.trim_ascii().is_empty() => empty(status),
                Ok(_) => strange,
                Err(unread) => unread.to_string(),
            };
            return self.give_up(post.exchange, &why, code).await;
        }
        // The tape has the body that came in place of MCP.
        let why = if error_body(answer).await.is_empty() {
            empty(status)
        } else {
            strange
        };
        self.give_up(post.exchange, &why, code).await
    }

    /// Handles a message that the server refused.
    async fn refused(&self, post: &Post, answer: Answer, gates: Gates) -> Result<Posted, Gone> {
        let status = answer.response.status();
        let json = content_type(&answer) == "application/json";
        let body = error_body(answer).await;
        let error = if json { error_of(&body) } else { None };
        if post.kind == PostKind::Initialize
            && matches!(status.as_u16(), 400 | 404 | 405)
            && !error.as_ref().is_some_and(|error| error.knows(post))
            && !self.is_legacy()
            && legacy::carry(self, post, gates).await?
        {
            return Ok(Posted::Accepted);
        }
        let Some(error) = error else {
            let why = refusal(status);
            let status = Some(status.as_u16());
            self.give_up(post.exchange, &why, status).await?;
            return Ok(Posted::Refused);
        };
        let lost = self.client().ended(post.exchange);
        if post.kind == PostKind::Malformed {
            // On stdio, too, a server answers an unreadable message without an id.
            self.deliver(&body).await?;
        }
        for id in lost {
            let line = if id == error.id {
                body.clone()
            } else {
                ours::with_id(&id, &error.error)
            };
            self.deliver(&line).await?;
        }
        Ok(Posted::Refused)
    }
}

/// A JSON-RPC error in the body of an HTTP error.
struct RpcError {
    // Source text of its id.
    id: Vec<u8>,
    // Source text of the error.
    error: Bytes,
}

impl RpcError {
    /// Whether the error comes from a server of streamable HTTP: it has the request's id, or a code
    /// that only the stateless era has (2026-07-28, basic/versioning).
    fn knows(&self, post: &Post) -> bool {
        let code = tapewright_schemas::json::find(&self.error, &["code"]);
        let modern = [b"-32020".as_slice(), b"-32021", b"-32022"];
        let named = match Envelope::parse(&post.line).kind {
            Kind::Request { id, .. } => id_source(&id) == self.id,
            _ => false,
        };
        named || code.is_some_and(|code| modern.contains(&code))
    }
}

fn error_of(body: &Bytes) -> Option<RpcError> {
    let envelope = Envelope::parse(body);
    match envelope.kind {
        // Errors of OAuth and others also have a member `error`.
        Kind::Response {
            id,
            error: Some(error),
            ..
        } if envelope.version.is_some() => Some(RpcError {
            id: match id {
                RequestId::Null => Vec::new(),
                id => id_source(&id),
            },
            error: body.slice_ref(error),
        }),
        _ => None,
    }
}

/// A suggestion for an answer that is not MCP.
const WHERE: &str = "; check that the URL is that of an MCP endpoint";

fn empty(status: StatusCode) -> String {
    format!("the server answered {status} without a message{WHERE}")
}

/// A description of an answer that is not MCP, from its head.
fn strange(answer: &Answer) -> String {
    let status = answer.response.status();
    if let Some(encoding) = encoding(answer) {
        return format!(
            "the server answered {status} in the encoding `{encoding}`, which a client on stdio cannot read; turn it off at the server"
        );
    }
    match content_type(answer).as_str() {
        "application/json" => {
            format!(
                "the server answered {status} with a body that is not a JSON-RPC message{WHERE}"
            )
        }
        "" => format!("the server answered {status} without a content type{WHERE}"),
        kind => format!("the server answered {status} with `{kind}` instead of a message{WHERE}"),
    }
}

/// The encoding of an answer, if it has one.
fn encoding(answer: &Answer) -> Option<&str> {
    let value = answer.response.headers().get(header::CONTENT_ENCODING)?;
    let value = value.to_str().ok()?;
    (!value.eq_ignore_ascii_case("identity")).then_some(value)
}

/// Whether a body may be sent to a client on stdio.
pub(super) fn is_message(body: &[u8]) -> bool {
    let envelope = Envelope::parse(body);
    match envelope.kind {
        Kind::Malformed(_) => false,
        // Errors of OAuth and others also have a member `error`.
        Kind::Response { .. } => envelope.version.is_some(),
        _ => true,
    }
}

/// The meaning of an HTTP error, with a suggestion, for a client without HTTP.
pub(super) fn refusal(status: StatusCode) -> String {
    let hint = match status.as_u16() {
        400 | 405 | 415 => "; this URL may be for another revision or transport of MCP",
        401 => "; it needs a token; set one with --header-env Authorization=VARIABLE",
        403 => {
            "; the headers of --header and --header-env lack permission, or it expects another Host or Origin"
        }
        404 => "; the session may have ended, or the URL is not that of an MCP endpoint",
        407 => "; a proxy in between needs a password",
        408 | 504 => "; it timed out, try again",
        413 => "; the message is too long for it",
        429 => "; too many requests, try again later",
        300..=399 => "; use the URL that it names instead",
        500..=599 => "; check its log, or try again",
        _ => "",
    };
    format!("the server answered {status}{hint}")
}

/// An error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
