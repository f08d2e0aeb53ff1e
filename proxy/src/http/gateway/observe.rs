//! What the two directions of an exchange tell about its session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{
    Carrier, CloseReason, Direction, EventBody, SessionEnd, SessionKey, SessionMark,
};

use super::Gateway;
use crate::http::fault::Aimed;
use crate::http::metrics::{InFlight, Loss};
use crate::http::sessions::SESSIONLESS;
use crate::http::tap::{Log, Watch};

/// The request whose answer is a stream of what it subscribes to (2026-07-28).
const LISTEN: &str = "subscriptions/listen";

/// One exchange, as both its directions see it.
pub(crate) struct GatewayExchange {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) log: Arc<Log>,
    /// The origin, by which sessions are told apart.
    pub(crate) origin: Arc<str>,
    /// The request is an `initialize` that opens a session of its own.
    pub(crate) initialize: AtomicBool,
    /// The request has been sent whole.
    pub(crate) sent: Arc<AtomicBool>,
    /// The client broke its request off.
    pub(crate) broken_off: AtomicBool,
    /// The session is decided by the response.
    pub(crate) ask_response: bool,
    /// Its address is one where models are called.
    pub(crate) is_model_call: bool,
    /// The fault that acts on the response.
    pub(crate) aimed: Mutex<Option<Aimed>>,
}

impl GatewayExchange {
    /// The session, decided now if it was not before.
    pub(crate) fn settle(&self, session: SessionKey) -> SessionKey {
        self.log.decide(session);
        self.log.session().unwrap_or(session)
    }

    /// Lets a message of the request meet the faults in force.
    fn aim(&self, payload: &[u8]) {
        if self.gateway.faults.is_idle() {
            return;
        }
        let session = self.log.session().unwrap_or(SESSIONLESS);
        let aimed = Aimed::of(&self.gateway, session, payload);
        let mut aim = self.aimed.lock().unwrap_or_else(PoisonError::into_inner);
        *aim = aim.take().or(aimed);
    }

    /// The fault that acts on the request itself.
    pub(crate) fn aimed_at_request(&self) -> Option<Aimed> {
        let mut aim = self.aimed.lock().unwrap_or_else(PoisonError::into_inner);
        aim.take_if(|aimed| aimed.meets_request())
    }

    /// The fault that acts on the response, if it has not acted elsewhere.
    pub(crate) fn aimed(&self) -> Option<Aimed> {
        let aim = self.aimed.lock().unwrap_or_else(PoisonError::into_inner);
        aim.clone()
    }

    /// Says that the session of this exchange began or ended.
    pub(crate) fn mark(&self, mark: SessionMark) {
        self.log.note(Direction::ToClient, EventBody::Session(mark));
    }
}

/// Watches the request.
pub(crate) struct RequestWatch(pub(crate) Arc<GatewayExchange>);

impl Watch for RequestWatch {
    fn message(&self, payload: &[u8], envelope: Option<&Envelope<'_>>) {
        let exchange = &self.0;
        // What comes on a known session opens none, and ends none: on 2024-11-05 the stream
        // did, and no answer to a POST names a session.
        if exchange.log.session().is_none() {
            let initialize = match envelope.map(|envelope| &envelope.kind) {
                Some(Kind::Request { method, .. }) => method == "initialize",
                _ => false,
            };
            exchange.initialize.store(initialize, Ordering::Relaxed);
            let session = initialize
                .then(|| exchange.gateway.sessions.initialize(&exchange.origin))
                .flatten();
            exchange.log.decide(session.unwrap_or(SESSIONLESS));
        }
        let listens = |envelope: &Envelope<'_>| match &envelope.kind {
            Kind::Request { method, .. } => method == LISTEN,
            _ => false,
        };
        if envelope.is_some_and(listens) {
            exchange.log.carry(Direction::ToClient, Carrier::Listen);
        }
        exchange.aim(payload);
    }

    fn endpoint(&self, _url: &str) {}

    fn bytes(&self, count: usize) {
        self.0.gateway.metrics.add_bytes(Direction::ToServer, count);
    }

    fn lost(&self, cause: Loss, bytes: u64) {
        self.0.gateway.metrics.add_lost(cause, bytes);
    }

    fn left(&self, reason: CloseReason) -> CloseReason {
        self.0.gateway.left(reason)
    }

    fn closed(&self, reason: CloseReason) {
        if !self.0.ask_response {
            self.0.settle(SESSIONLESS);
        }
        if reason == CloseReason::Aborted {
            self.0.broken_off.store(true, Ordering::Release);
        }
        if reason == CloseReason::EndOfInput {
            self.0.sent.store(true, Ordering::Release);
        }
    }
}

/// Watches the response.
pub(crate) struct ResponseWatch {
    pub(crate) exchange: Arc<GatewayExchange>,
    /// What the end of the response means for the session.
    pub(crate) ends: Option<SessionEnd>,
    /// The session is what this stream carries.
    pub(crate) is_legacy_stream: bool,
    /// Counts the exchange as under way.
    pub(crate) in_flight: InFlight,
}

impl Watch for ResponseWatch {
    fn message(&self, _payload: &[u8], _envelope: Option<&Envelope<'_>>) {}

    fn endpoint(&self, url: &str) {
        let exchange = &self.exchange;
        if let (true, Some(session)) = (self.is_legacy_stream, exchange.log.session()) {
            let now = exchange.gateway.clock.now();
            let sessions = &exchange.gateway.sessions;
            sessions.announced(&exchange.origin, url, session, now);
        }
    }

    fn bytes(&self, count: usize) {
        let metrics = &self.exchange.gateway.metrics;
        metrics.add_bytes(Direction::ToClient, count);
    }

    fn lost(&self, cause: Loss, bytes: u64) {
        self.exchange.gateway.metrics.add_lost(cause, bytes);
    }

    fn left(&self, reason: CloseReason) -> CloseReason {
        self.exchange.gateway.left(reason)
    }

    fn closed(&self, _reason: CloseReason) {
        let exchange = &self.exchange;
        let ends = if self.is_legacy_stream {
            Some(SessionEnd::StreamClosed)
        } else {
            self.ends
        };
        if let (Some(why), Some(session)) = (ends, exchange.log.session())
            && session != SESSIONLESS
        {
            exchange.mark(SessionMark::Ended(why));
            exchange.gateway.sessions.ended(session);
            exchange.gateway.expected.forget(session);
        }
        self.in_flight.end();
    }
}
