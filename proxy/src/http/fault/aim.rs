//! Which part of a response answers the request that a fault has met.

use bytes::Bytes;
use tapewright_engine::fault::{Book, Hit, On, Subject};
use tapewright_engine::{SseFramer, SseItem};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::{Direction, Offset, Payload, SessionKey};
use tapewright_schemas::json;

use super::carried::Carried;

/// A fault, and the request that it has met.
#[derive(Debug)]
pub(crate) struct Aimed {
    pub(crate) hit: Hit,
    /// Source text of the request's id.
    pub(crate) id: Vec<u8>,
    /// It has met a notification.
    of_notification: bool,
    /// What was sent with it asks for an answer.
    pub(super) is_awaited: bool,
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
        let mut is_awaited = false;
        for_each_message(payload, |text| {
            let envelope = Envelope::parse(text);
            let is_request = matches!(envelope.kind, Kind::Request { .. });
            is_awaited |= is_request;
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
            aimed.get_or_insert(Self {
                hit,
                id,
                of_notification: !is_request,
                is_awaited: false,
            });
        });
        aimed.map(|aimed| Self {
            is_awaited,
            ..aimed
        })
    }

    /// Whether it acts on what the client sends, not on the response.
    pub(crate) fn meets_request(&self) -> bool {
        let meant = self.of_notification || self.hit.on() == On::Request;
        meant && self.act(b"").leaves_content()
    }

    /// The answer in an event of a stream, if it is there.
    pub(super) fn find(&self, event: &Bytes) -> Option<Carried> {
        let mut framer = SseFramer::new(event.len());
        framer.feed(event);
        let found = std::iter::from_fn(|| framer.poll()).find_map(|item| match item {
            SseItem::Event(event) => event.is_message().then_some(event),
            SseItem::Comment(_) => None,
        })?;
        let Some(Payload::Whole(data)) = &found.data else {
            return None;
        };
        let text = data.trim_ascii();
        self.is_answer(text)
            .then(|| Carried::in_event(event, &found, text))
    }

    fn is_answer(&self, text: &[u8]) -> bool {
        match Envelope::parse(text).kind {
            Kind::Response { id, .. } => id == RequestId::of_source(&self.id),
            Kind::Batch { .. } => true,
            _ => false,
        }
    }
}
