//! What happens over HTTP beside the messages: heads, bodies, events of a stream, edits.

use std::borrow::Cow;

use super::Fields;
use serde::{Deserialize, Serialize};

/// The head of an HTTP request or response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Head {
    /// Of a request.
    Request(RequestHead),
    /// Of a response.
    Response(ResponseHead),
}

/// The head of a request as the client sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestHead {
    /// `POST`, `GET`, …
    pub method: Cow<'static, str>,
    /// Path and query, or the whole URL where the client sent one to a forward proxy.
    pub target: String,
    /// `HTTP/1.1` or `HTTP/2`, on the client's leg.
    #[serde(default)]
    pub version: Cow<'static, str>,
    /// Its fields, in order.
    #[serde(default)]
    pub fields: Fields,
}

/// The head of a response as the server sent it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseHead {
    /// `200`, …
    pub status: u16,
    /// `HTTP/1.1` or `HTTP/2`, on the server's leg.
    #[serde(default)]
    pub version: Cow<'static, str>,
    /// Its fields, in order.
    #[serde(default)]
    pub fields: Fields,
    /// Why we answered in the server's place, when we did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<String>,
}

/// What an event of an SSE stream says beside its data. The message that its data is, if
/// any, is the next event of the same conduit and direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SseNote {
    /// The `id` field; an empty one resets the client's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The `event` field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The `retry` field, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// A comment line, without its colon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Whether a message follows.
    #[serde(default)]
    pub message: bool,
}

/// Something that we changed on its way, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edit {
    /// What was changed: `location`, `resource`, `endpoint`, …
    pub what: String,
    /// As it came.
    pub before: String,
    /// As it was passed on.
    pub after: String,
}

/// How long one exchange was in our hands, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Added {
    /// From the request's head to its way on.
    pub request_us: u64,
    /// From the response's head to its way on.
    pub response_us: u64,
}

/// What became of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionMark {
    /// It began: `session id`, `event stream`, `process` or `initialize`.
    Began(String),
    /// It ended: `deleted`, `stream closed`, `idle`, `process ended`, `not found`,
    /// `shutdown`.
    Ended(String),
}
