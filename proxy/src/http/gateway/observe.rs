//! What the two directions of an exchange show about its session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{
    Carrier, CloseReason, Direction, EventBody, SessionEnd, SessionKey, SessionMark,
};

use super::Gateway;
use crate::http::fault::MatchedFault;
use crate::http::metrics::{InFlight, Loss};
use crate::http::sessions::SESSIONLESS;
use crate::http::tap::{Log, Watch};

/// The request whose answer is a stream of subscribed events (2026-07-28).
const LISTEN: &str = "subscriptions/listen";

/// One exchange, shared by both its directions.
pub(crate) struct GatewayExchange {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) log: Arc<Log>,
    /// The origin, which distinguishes sessions.
    pub(crate) origin: Arc<str>,
    /// The request is an `initialize` that starts a new session.
    pub(crate) initialize: AtomicBool,
    /// The request was sent completely.
    pub(crate) sent: Arc<AtomicBool>,
    /// The client aborted its request.
    pub(crate) broken_off: AtomicBool,
    /// The response determines the session.
    pub(crate) ask_response: bool,
    /// Its endpoint is one for model calls.
    pub(crate) is_model_call: bool,
    /// The fault that acts on the response.
    pub(crate) aimed: Mutex<Option<MatchedFault>>,
}

impl GatewayExchange {
    /// Decides the session, unless it is already decided; returns the decided one.
    pub(crate) fn settle(&self, session: SessionKey) -> SessionKey {
        self.log.decide(session);
        self.log.session().unwrap_or(session)
    }

    /// Matches a message of the request with the active faults.
    fn aim(&self, payload: &[u8]) {
        if self.gateway.faults.is_idle() {
            return;
        }
        let session = self.log.session().unwrap_or(SESSIONLESS);
        let aimed = MatchedFault::of(&self.gateway, session, payload);
        let mut aim = self.aimed.lock().unwrap_or_else(PoisonError::into_inner);
        *aim = aim.take().or(aimed);
    }

    /// The fault that acts on the request itself.
    pub(crate) fn aimed_at_request(&self) -> Option<MatchedFault> {
        let mut aim = self.aimed.lock().unwrap_or_else(PoisonError::into_inner);
        aim.take_if(|aimed| aimed.meets_request())
    }

    /// The fault that acts on the response, if it has not acted elsewhere.
    pub(crate) fn aimed(&self) -> Option<MatchedFault> {
        let aim = self.aimed.lock().unwrap_or_else(PoisonError::into_inner);
        aim.clone()
    }

    /// Records that the session of this exchange started or ended.
    pub(crate) fn mark(&self, mark: SessionMark) {
        self.log.note(Direction::ToClient, EventBody::Session(mark));
    }
}

/// Observes the request.
pub(crate) struct RequestWatch(pub(crate) Arc<GatewayExchange>);

impl Watch for RequestWatch {
    fn message(&self, payload: &[u8], envelope: Option<&Envelope<'_>>) {
        let exchange = &self.0;
        // Requests in a known session do not start or end it: on 2024-11-05 the stream did, and no
        // answer to a POST contains a session id.
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

/// Observes the response.
pub(crate) struct ResponseWatch {
    pub(crate) exchange: Arc<GatewayExchange>,
    /// How the session ends with the response, if it does.
    pub(crate) ends: Option<SessionEnd>,
    /// Whether the session is this stream.
    pub(crate) is_legacy_stream: bool,
    /// Counts the exchange as in progress.
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
