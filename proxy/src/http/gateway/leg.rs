//! The changes of a forward proxy that result from differences between the two legs of an exchange.

use http::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use http::{Request, Response, Version};
use http_body::Body as _;
use hyper::body::Incoming;
use tapewright_schemas::event::{Direction, Edit, EventBody};

use crate::http::body::Outbound;
use crate::http::edit::heads::{self, Framing};
use crate::http::tap::Log;

/// The client's leg of an exchange, and what the server's leg determines about its request.
pub(crate) struct ClientLeg {
    version: Version,
    // About the request: whether it was chunked, and how it is sent on.
    was_chunked: bool,
    is_open: bool,
    head: HeaderMap,
}

impl ClientLeg {
    pub(super) fn new(came: &HeaderMap, version: Version, goes: &Request<Outbound>) -> Self {
        let is_said = goes.headers().contains_key(CONTENT_LENGTH);
        let exact = goes.body().size_hint().exact();
        Self {
            version,
            was_chunked: came.contains_key(TRANSFER_ENCODING),
            is_open: exact.is_none() && !is_said,
            head: goes.headers().clone(),
        }
    }

    /// Records what the version of the server's leg required.
    pub(super) fn note_request(&self, answered: Version, log: &Log) {
        // Requests to an HTTP/1.0 server use HTTP/1.1 as well.
        let server = match answered {
            Version::HTTP_2 => Version::HTTP_2,
            _ => Version::HTTP_11,
        };
        let framing = Framing {
            came: (self.version, self.was_chunked),
            goes: server,
            is_open: self.is_open,
        };
        let edits = framing.edit().into_iter();
        let edits = edits.chain(heads::te(&self.head, server));
        log.note_all(Direction::ToServer, edits.map(edited));
    }

    /// Records the fields of a response that belong to a single connection, and its framing for the
    /// client.
    pub(super) fn note_response(
        &self,
        came: &HeaderMap,
        version: Version,
        goes: &HeaderMap,
        is_open: bool,
        log: &Log,
    ) {
        let framing = Framing {
            came: (version, came.contains_key(TRANSFER_ENCODING)),
            goes: self.version,
            is_open: is_open && !goes.contains_key(CONTENT_LENGTH),
        };
        let edits = heads::fields(came, goes).into_iter();
        let edits = edits.chain(framing.edit());
        log.note_all(Direction::ToClient, edits.map(edited));
    }
}

/// Whether the length of a response's body is unknown, judging by its connection.
pub(super) fn is_open(response: &Response<Incoming>) -> bool {
    let body = response.body();
    !body.is_end_stream() && body.size_hint().exact().is_none()
}

/// An edit, for the tape.
pub(super) fn edited(edit: Edit) -> EventBody {
    EventBody::Edited(Box::new(edit))
}
