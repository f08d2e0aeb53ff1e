//! Which part of a response answers the request that a fault has met.

use std::ops::Range;

use bytes::Bytes;
use tapewright_engine::fault::{Book, Hit, Subject};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::{Direction, Offset, SessionKey};
use tapewright_schemas::json;

/// A fault, and the request that it has met.
#[derive(Debug)]
pub(crate) struct Aimed {
    pub(crate) hit: Hit,
    /// Source text of the request's id.
    pub(crate) id: Vec<u8>,
}

impl Aimed {
    /// The fault that acts on the response to a message, if any.
    pub(crate) fn of(
        book: &Book,
        now: Offset,
        session: SessionKey,
        payload: &[u8],
    ) -> Option<Self> {
        let mut aimed = None;
        for_each_message(payload, |text| {
            let envelope = Envelope::parse(text);
            let Some(method) = envelope.method() else {
                return;
            };
            let subject = Subject {
                method,
                text,
                dir: Direction::ToServer,
                session,
            };
            let Some(hit) = book.choose(now, &subject) else {
                return;
            };
            let id = json::find(text, &["id"]).unwrap_or(b"null").to_vec();
            aimed.get_or_insert(Self { hit, id });
        });
        aimed
    }

    /// Where in the events of a stream the answer stands, if it does.
    pub(crate) fn place(&self, body: &Bytes) -> Option<Range<usize>> {
        let mut start = 0;
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            let trimmed = line.trim_ascii_end();
            if let Some(data) = trimmed.strip_prefix(b"data:") {
                let text = data.trim_ascii_start();
                if self.is_answer(text) {
                    let end = start + trimmed.len();
                    return Some(end - text.len()..end);
                }
            }
            start += line.len();
        }
        None
    }

    /// A body in which the answer stands more than once.
    pub(crate) fn again(body: &Bytes, place: &Range<usize>, times: u8) -> Vec<u8> {
        let text = body.get(place.clone()).unwrap_or_default();
        let mut again = body.get(..place.end).unwrap_or_default().to_vec();
        for _ in 0..times {
            if place.start > 0 {
                again.extend_from_slice(b"\n\ndata: ");
            }
            again.extend_from_slice(text);
        }
        again.extend_from_slice(body.get(place.end..).unwrap_or_default());
        again
    }

    fn is_answer(&self, text: &[u8]) -> bool {
        match Envelope::parse(text).kind {
            Kind::Response { id, .. } => id == RequestId::of_source(&self.id),
            Kind::Batch { .. } => true,
            _ => false,
        }
    }
}
