//! HTTP events other than messages: heads, bodies, events of a stream, edits.

use std::borrow::Cow;

use super::Fields;
use super::in_place::{InPlace, InPlaceCause, WrittenInPlace};
use super::tokens::tokens;
use serde::{Deserialize, Serialize};

/// The head of an HTTP request or response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Head {
    /// An interim response (1xx, RFC 9110 §15.2), of which any number precede the response itself.
    /// It is forwarded if the client's connection is HTTP/1.1.
    Interim(ResponseHead),
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
    /// Path and query, or the whole URL if the client sent one to a forward proxy.
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
#[serde(from = "WrittenHead")]
pub struct ResponseHead {
    /// `200`, …
    pub status: u16,
    /// `HTTP/1.1` or `HTTP/2`, on the server's leg.
    pub version: Cow<'static, str>,
    /// Its fields, in order.
    pub fields: Fields,
    /// Why we answered in the server's place, when we did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours: Option<InPlace>,
    /// The precise reason, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours_cause: Option<InPlaceCause>,
    /// The subject of the cause: a name, a number, an address, the system's error; on a tape before
    /// 2.4, a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ours_about: Option<String>,
}

/// A head as a tape of any version has it.
#[derive(Deserialize)]
struct WrittenHead {
    status: u16,
    #[serde(default)]
    version: Cow<'static, str>,
    #[serde(default)]
    fields: Fields,
    ours: Option<String>,
    ours_cause: Option<String>,
    ours_about: Option<String>,
    ours_detail: Option<String>,
}

impl From<WrittenHead> for ResponseHead {
    fn from(written: WrittenHead) -> Self {
        let head = Self {
            status: written.status,
            version: written.version,
            fields: written.fields,
            ..Self::default()
        };
        let in_place = WrittenInPlace {
            ours: written.ours,
            ours_cause: written.ours_cause,
            ours_about: written.ours_about,
            ours_detail: written.ours_detail,
        };
        in_place.read(head)
    }
}

/// The fields of an SSE event other than its data. If its data is a message, that is the next event
/// of the same conduit and direction.
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
    /// The stream ended before the event did: no client dispatches it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// A change that the recorder made to the traffic, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edit {
    /// What was changed.
    #[serde(deserialize_with = "EditTarget::read")]
    pub what: EditTarget,
    /// The name of the field, if a header field as such was changed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
    /// The original value.
    pub before: String,
    /// The forwarded value.
    pub after: String,
}

tokens! {
    /// What was changed.
    #[derive(Default)]
    pub enum EditTarget {
        /// The field `Accept-Encoding`: the encodings that we can undo.
        AcceptEncoding = "accept-encoding",
        /// The address in the `endpoint` event of HTTP+SSE (2024-11-05, basic/transports).
        Endpoint = "endpoint",
        /// A field that was added to a head.
        FieldAdded = "field_added",
        /// The value of a field of a head.
        FieldChanged = "field_changed",
        /// A field that was not forwarded, since it belongs to one connection (RFC 9110 §7.6.1).
        FieldRemoved = "field_removed",
        /// The field `Location`.
        Location = "location",
        /// The `resource` of the metadata of a protected resource (RFC 9728 §2).
        Resource = "resource",
        /// The `resource_metadata` of a challenge (RFC 9728 §5.1).
        ResourceMetadata = "resource_metadata",
        /// The target of a request: its form (RFC 9112 §3.2).
        Target = "target",
        /// Unknown.
        #[default]
        Unknown = "unknown",
    }
}

impl EditTarget {
    /// Whether a header field as such was changed.
    #[must_use]
    pub fn is_field(self) -> bool {
        matches!(
            self,
            Self::FieldAdded | Self::FieldChanged | Self::FieldRemoved
        )
    }

    /// The target of a token; any other text is `Unknown`.
    #[must_use]
    pub fn of(token: &str) -> Self {
        Self::from_name(token).unwrap_or_default()
    }

    fn read<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        Ok(Self::of(&String::deserialize(input)?))
    }
}

/// How long the recorder held one exchange, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Added {
    /// From receiving the request's head to forwarding it.
    pub request_us: u64,
    /// From receiving the response's head to forwarding it.
    pub response_us: u64,
}

/// How a session began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMark {
    /// It began.
    Began(SessionStart),
    /// It ended.
    Ended(SessionEnd),
}

tokens! {
    /// How a session began.
    pub enum SessionStart {
        /// A client opened the stream of 2024-11-05 that carries it.
        EventStream = "event_stream",
        /// An `initialize`, where sessions have no ids.
        Initialize = "initialize",
        /// A process was started for a client that has no sessions.
        Process = "process",
        /// Its id was seen, in a response or in a request.
        SessionId = "session_id",
        /// Unknown.
        Unknown = "unknown",
    }
}

tokens! {
    /// Why a session ended.
    pub enum SessionEnd {
        /// Its client deleted it.
        Deleted = "deleted",
        /// It was unused for too long.
        Idle = "idle",
        /// Its client never began it.
        NeverBegun = "never_begun",
        /// The answer to its `initialize` gave it no id.
        NoSessionId = "no_session_id",
        /// The server reported that it does not know it.
        NotFound = "not_found",
        /// The server's process ended.
        ProcessEnded = "process_ended",
        /// Another one took its place.
        Replaced = "replaced",
        /// The recorder ended.
        Shutdown = "shutdown",
        /// The stream that carried it closed.
        StreamClosed = "stream_closed",
        /// Unknown.
        Unknown = "unknown",
    }
}
