//! One HTTP exchange.

use tapewright_schemas::envelope::Kind;
use tapewright_schemas::event::{CloseReason, RequestHead, ResponseHead};

use crate::carrier::Carriers;
use crate::message::Message;
use crate::method::Method;
use crate::session::Moment;

/// One HTTP exchange: a request and its response so far.
#[derive(Debug, Default)]
pub(crate) struct Conduit {
    /// Its number.
    pub(crate) number: u32,
    /// Number of the client's connection.
    pub(crate) connection: u64,
    /// It is one of HTTP+SSE, the transport of 2024-11-05.
    pub(crate) legacy: bool,
    pub(crate) request: Option<(Moment, RequestHead)>,
    pub(crate) response: Option<(Moment, ResponseHead)>,
    /// The messages of the request, up to a limit.
    pub(crate) sent: Vec<Sent>,
    /// The number of messages in the request.
    pub(crate) sent_count: usize,
    /// The number of responses, and of all messages, that came back.
    pub(crate) answers: usize,
    pub(crate) received: usize,
    /// The number of bytes that came back and are not messages.
    pub(crate) other_bytes: u64,
    /// The code of the response's error.
    pub(crate) error: Option<(i64, u64)>,
    /// Events are missing since it began.
    pub(crate) gap: bool,
    /// Its request describes itself in `_meta`, as in the stateless era.
    pub(crate) stateless: bool,
    /// The request's headers and its body do not agree.
    pub(crate) mismatch: Option<u64>,
    /// How the response ended.
    pub(crate) closed: Option<(Moment, CloseReason)>,
    /// The stream that its events belong to.
    pub(crate) stream: Option<u32>,
    /// The number of its last event that was sent before.
    pub(crate) replayed: Option<u64>,
}

/// A message of a request.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) kind: RequestKind,
    pub(crate) method: Method,
}

/// The kind of a message in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Request,
    Other,
}

/// The maximum number of messages of one request that are remembered.
const SENT: usize = 128;

impl Conduit {
    /// The field of the request.
    pub(crate) fn asked_field(&self, name: &str) -> Option<&str> {
        self.request.as_ref()?.1.fields.get(name)
    }

    /// The field of the response.
    pub(crate) fn answered_field(&self, name: &str) -> Option<&str> {
        self.response.as_ref()?.1.fields.get(name)
    }

    /// The HTTP method.
    pub(crate) fn verb(&self) -> &str {
        let head = self.request.as_ref();
        head.map_or("", |(_, head)| &*head.method)
    }

    /// Whether the response is an HTTP error.
    pub(crate) fn is_refused(&self) -> bool {
        self.status().is_some_and(|status| status >= 400)
    }

    /// The status of the response, if known.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response.as_ref().map(|(_, head)| head.status)
    }

    /// Whether the answer is tapewright's and not the server's.
    pub(crate) fn is_ours(&self) -> bool {
        let head = self.response.as_ref();
        head.is_some_and(|(_, head)| head.ours.is_some())
    }

    /// Whether the request resumes a stream.
    pub(crate) fn resumes(&self) -> bool {
        self.asked_field("last-event-id").is_some()
    }

    /// The possible carriers of its messages, and the rules for its heads.
    pub(crate) fn carriers(&self) -> Carriers {
        match (self.legacy, self.verb()) {
            (true, _) => Carriers::LEGACY,
            (false, "POST") => Carriers::POST,
            (false, "GET") => Carriers::GET,
            (false, _) => Carriers::STREAMABLE,
        }
    }

    /// Whether it is a POST.
    pub(crate) fn is_post(&self) -> bool {
        self.verb() == "POST"
    }

    /// Whether the request carries this method.
    pub(crate) fn carries(&self, method: Method) -> bool {
        self.sent.iter().any(|one| one.method == method)
    }

    /// Whether the request has a request among its messages.
    pub(crate) fn asks(&self) -> bool {
        self.sent.iter().any(|one| one.kind == RequestKind::Request)
    }

    /// The type of the response's body, without parameters.
    pub(crate) fn content_type(&self) -> String {
        let value = self.answered_field("content-type").unwrap_or_default();
        let kind = value.split(';').next().unwrap_or_default();
        kind.trim().to_ascii_lowercase()
    }

    /// The event number of the request's head.
    pub(crate) fn asked_at(&self) -> u64 {
        self.request.as_ref().map_or(0, |(moment, _)| moment.seq)
    }

    /// The event number of the response's head.
    pub(crate) fn answered_at(&self) -> u64 {
        self.response.as_ref().map_or(0, |(moment, _)| moment.seq)
    }

    /// Handles a message of the request.
    pub(crate) fn send(&mut self, message: &Message<'_>) {
        self.sent_count += 1;
        if self.sent.len() >= SENT {
            return;
        }
        let kind = match message.envelope.kind {
            Kind::Request { .. } => RequestKind::Request,
            _ => RequestKind::Other,
        };
        self.sent.push(Sent {
            kind,
            method: message.method,
        });
    }

    /// Handles a message of the response.
    pub(crate) fn receive(&mut self, message: &Message<'_>) {
        self.received += 1;
        if let Kind::Response { .. } = message.envelope.kind {
            self.answers += 1;
            if let Some(code) = message.error_code() {
                self.error.get_or_insert((code, message.seq));
            }
        }
    }
}
