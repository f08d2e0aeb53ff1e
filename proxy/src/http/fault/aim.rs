//! Chooses the fault for the answer to a request, for a client's message, or for a server's own
//! message.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tapewright_engine::fault::{Act, Call, Carried, FaultTarget, Hit, Subject};
use tapewright_engine::{SseEvent, SseFramer, SseItem};
use tapewright_schemas::conversation::Handle;
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::{Direction, MessageNumber, Payload, SessionKey};
use tapewright_schemas::json;

use super::Scene;
use crate::http::gateway::{Gateway, GatewayExchange};
use crate::http::sessions::SESSIONLESS;

/// A fault, and the message that it matched.
#[derive(Clone, Debug)]
pub(crate) struct MatchedFault {
    pub(crate) hit: Hit,
    /// Source text of the request's id; `null` for a notification.
    pub(crate) id: Vec<u8>,
    /// It acts on the matched message itself, not on its answer.
    on_itself: bool,
    /// The message that it acts on, as soon as that is recorded.
    pub(super) message: Option<MessageNumber>,
    /// The matched message is a request.
    pub(super) is_awaited: bool,
    // The expected answer, if that may come on another stream.
    expected: Option<Handle>,
    // Whether it has acted. Shared, since the answer may come in more than one place.
    spent: Arc<AtomicBool>,
}

impl MatchedFault {
    fn new(hit: Hit, id: &[u8], on_itself: bool) -> Self {
        Self {
            hit,
            id: id.to_vec(),
            on_itself,
            message: None,
            is_awaited: false,
            expected: None,
            spent: Arc::default(),
        }
    }

    /// The fault that acts on a message of a client, or on the response to it, if any.
    pub(crate) fn of(gateway: &Gateway, session: SessionKey, payload: &[u8]) -> Option<Self> {
        let mut aimed = None;
        let mut is_awaited = false;
        for_each_message(payload, |text| {
            let envelope = Envelope::parse(text);
            if let Kind::Response { id, .. } = &envelope.kind {
                let expected = &gateway.expected;
                aimed = aimed
                    .take()
                    .or_else(|| expected.take(session, Direction::ToClient, id));
                return;
            }
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
                is_request,
            };
            let Some(hit) = gateway.faults.choose(gateway.clock.now(), &subject) else {
                return;
            };
            let on_itself = !is_request || hit.on() == FaultTarget::Request;
            aimed.get_or_insert(Self::new(hit, id_of(text), on_itself));
        });
        let mut aimed = aimed.map(|aimed| Self {
            is_awaited,
            ..aimed
        })?;
        if !aimed.on_itself {
            aimed.expected = gateway.expected.add(session, Direction::ToServer, &aimed);
        }
        Some(aimed)
    }

    /// What the fault does to an empty message, which shows what it does to a response.
    pub(super) fn act(&self) -> Act {
        let hit = &self.hit;
        (hit.kind().act)(&Call {
            kind: hit.kind(),
            values: hit.values(),
            random: hit.random,
            text: b"",
            end: b"",
            id: Some(&self.id),
        })
    }

    /// Whether it acts on what the client sends, not on the response.
    pub(crate) fn meets_request(&self) -> bool {
        self.on_itself && self.act().leaves_content()
    }

    /// Marks it as acting; returns false if it has acted before.
    pub(super) fn spend(&self) -> bool {
        !self.spent.swap(true, Ordering::AcqRel)
    }

    /// Whether an event of a stream is the answer to the matched request.
    pub(super) fn is_answered_by(&self, event: &Bytes) -> bool {
        let fields = message_event(event);
        let Some(Payload::Whole(data)) = fields.and_then(|fields| fields.data) else {
            return false;
        };
        match Envelope::parse(data.trim_ascii()).kind {
            Kind::Response { id, .. } => self.is_of(&id),
            Kind::Batch { .. } => true,
            _ => false,
        }
    }

    fn is_of(&self, id: &RequestId<'_>) -> bool {
        RequestId::of_source(&self.id) == *id
    }
}

fn id_of(text: &[u8]) -> &[u8] {
    json::find(text, &["id"]).unwrap_or(b"null")
}

impl Scene {
    /// Lets a fault act that was chosen for the answer to the request of this exchange; returns
    /// false if it has acted before.
    pub(super) fn claim(&self, aimed: &MatchedFault) -> bool {
        if let Some(asked) = aimed.expected {
            self.gateway.expected.withdraw(asked);
        }
        aimed.spend()
    }

    /// The fault that acts on an event of a stream, if any, and what it acts on.
    pub(super) fn met(
        &self,
        exchange: &GatewayExchange,
        event: &Bytes,
        fields: &SseEvent,
        message: Option<MessageNumber>,
    ) -> Option<(MatchedFault, Carried)> {
        let Some(Payload::Whole(data)) = &fields.data else {
            return None;
        };
        let text = data.trim_ascii();
        let aimed = self.aimed_at(exchange, text, message)?;
        // It may have been removed while this was in transit.
        let carried = || Carried::event(event, fields, text);
        let in_force = self.fault_set().is_in_force(&aimed.hit);
        in_force.then(|| (aimed, carried()))
    }

    fn aimed_at(
        &self,
        exchange: &GatewayExchange,
        text: &[u8],
        message: Option<MessageNumber>,
    ) -> Option<MatchedFault> {
        let own = exchange.aimed();
        let aimed = match Envelope::parse(text).kind {
            Kind::Response { id, .. } => own
                .filter(|own| own.is_of(&id) && self.claim(own))
                .or_else(|| {
                    let expected = &self.gateway.expected;
                    expected.take(self.session(), Direction::ToServer, &id)
                }),
            Kind::Batch { .. } => own.filter(|own| self.claim(own)),
            Kind::Notification { method, .. } => {
                let hit = self.choose(&method, text, false)?;
                Some(MatchedFault::new(hit, b"null", true))
            }
            Kind::Request { method, .. } => {
                let mut aimed =
                    MatchedFault::new(self.choose(&method, text, true)?, id_of(text), true);
                aimed.message = message;
                if aimed.hit.on() == FaultTarget::Request {
                    return Some(aimed);
                }
                // The client's answer comes with a separate POST.
                let expected = &self.gateway.expected;
                expected.add(self.session(), Direction::ToClient, &aimed);
                None
            }
            _ => None,
        };
        aimed.map(|aimed| MatchedFault { message, ..aimed })
    }

    fn choose(&self, method: &str, text: &[u8], is_request: bool) -> Option<Hit> {
        let subject = Subject {
            method,
            text,
            dir: Direction::ToClient,
            session: self.session(),
            is_request,
        };
        self.fault_set().choose(self.now(), &subject)
    }

    fn session(&self) -> SessionKey {
        self.log.session().unwrap_or(SESSIONLESS)
    }
}

/// An event whose data is a message.
pub(super) fn message_event(event: &Bytes) -> Option<SseEvent> {
    let mut framer = SseFramer::new(event.len());
    framer.feed(event);
    std::iter::from_fn(|| framer.poll()).find_map(|item| match item {
        SseItem::Event(event) => event.is_message().then_some(event),
        SseItem::Comment(_) => None,
    })
}
