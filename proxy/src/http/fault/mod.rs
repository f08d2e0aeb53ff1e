//! Faults on exchanges: what the client gets in place of a response, or later.
//!
//! What a server answers has been recorded before a fault acts on it, so that the tape has
//! what would have passed. A body is held until it is whole, up to the message limit; event
//! streams are looked at event by event, wherever in a session the answer comes. What a
//! client sends can come later, or never.

mod aim;
mod alarm;
mod channel;
mod cut;
mod cutter;
mod expected;
mod holds;
mod request;
mod stage;
mod stream;
mod watched;
mod wedges;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_engine::fault::{Act, Carried, FaultSet};
use tapewright_engine::policy::Ticket;
use tapewright_schemas::event::{
    Direction, Effect, EventBody, MessageNumber, Offset, Unable, What,
};

pub(crate) use self::aim::Aimed;
pub(crate) use self::alarm::Alarm;
use self::channel::{Collected, collect};
pub(crate) use self::cut::{CutBehind, CutOff, cut_off};
pub(crate) use self::cutter::Ends;
pub(crate) use self::expected::Expected;
pub(crate) use self::request::accepted;
use self::stage::Stage;
use self::watched::Watched;
pub(crate) use self::wedges::{Wedged, Wedges};
use crate::http::body::Outbound;
use crate::http::gateway::{Gateway, GatewayExchange, Ours};
use crate::http::tap::{Log, is_event_stream};

/// One response or request, and where it belongs.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) log: Arc<Log>,
    /// Which way that travels which is acted on.
    pub(crate) dir: Direction,
    /// What wedges it, together with which others.
    pub(crate) talk: Wedged,
}

impl Scene {
    /// What the client gets.
    pub(crate) async fn apply(
        self,
        exchange: &Arc<GatewayExchange>,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        let is_stream = is_event_stream(response.headers());
        let mut response = response;
        if !self.is_calm() {
            if self.wedge().is_some() {
                match self.wait_behind(response, is_stream).await {
                    Some(passed) if is_stream => response = passed,
                    Some(passed) => return passed,
                    None => return cut_off(),
                }
            }
            // It may have been taken away while the answer was on its way.
            let aimed = exchange.aimed();
            if let Some(aimed) = aimed.filter(|aimed| self.fault_set().is_in_force(&aimed.hit)) {
                let act = aimed.act();
                // On 2024-11-05 the answer comes on the stream of the session.
                let comes_elsewhere = response.status() == StatusCode::ACCEPTED && aimed.is_awaited;
                let here = matches!(act, Act::Status { .. }) || !is_stream && !comes_elsewhere;
                if here && self.claim(&aimed) {
                    return self.inject(aimed, act, response).await;
                }
            }
        }
        if is_stream {
            self.watch(exchange, response)
        } else {
            response
        }
    }

    /// Passes a response on when the session speaks again; none when it is cut then.
    async fn wait_behind(
        &self,
        response: Response<Outbound>,
        is_stream: bool,
    ) -> Option<Response<Outbound>> {
        let (parts, body) = response.into_parts();
        // A stream may have no end.
        let whole = if is_stream {
            Collected::Long(Bytes::new(), body)
        } else {
            collect(body, self.log.limit_bytes()).await
        };
        let mut stage = Stage::new(self.clone());
        let passes = stage.pass_response(self.log.last_message(self.dir)).await;
        passes.then(|| Response::from_parts(parts, whole.into_body(&self.gateway)))
    }

    /// Lets faults act on the events of a stream, as soon as any is in force.
    fn watch(
        self,
        exchange: &Arc<GatewayExchange>,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        let (mut parts, body) = response.into_parts();
        // It cannot be read on its way, or has already arrived.
        let is_coded = parts.headers.contains_key(header::CONTENT_ENCODING);
        let is_short = self.is_calm() && parts.headers.contains_key(header::CONTENT_LENGTH);
        if is_coded || is_short {
            return Response::from_parts(parts, body);
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        let watched = Watched::new(body, self, Arc::clone(exchange));
        Response::from_parts(parts, Outbound::streaming(watched))
    }

    /// What the client waits for, if the session is to be silent.
    fn wedge(&self) -> Option<Ticket> {
        let wedges = &self.gateway.wedges;
        let waits = self.dir == Direction::ToClient;
        waits.then(|| wedges.held(&self.talk, self.fault_set(), self.now()))?
    }

    /// Whether the client is to hear nothing.
    fn is_silent(&self) -> bool {
        self.wedge().is_some()
    }

    async fn inject(
        self,
        mut aimed: Aimed,
        act: Act,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        if let Act::Status {
            status,
            retry_after,
        } = act
        {
            self.replaced(aimed, status, response).await;
            return status_of(status, retry_after);
        }
        let (parts, body) = response.into_parts();
        // Whole, its message is on the tape, and what is said is said of it.
        let collected = collect(body, self.log.limit_bytes()).await;
        aimed.message = self.log.last_message(self.dir);
        let why = match &collected {
            Collected::Whole(whole) if whole.is_empty() && changes_text(&act) => Unable::NoAnswer,
            Collected::Whole(whole) => {
                let carried = Carried::body(whole);
                let mut stage = Stage::new(self);
                stage.meet(stage.scene.now(), &aimed, &carried);
                return stage.respond(parts, whole.len()).await;
            }
            _ if matches!(act, Act::Delay { .. }) => {
                let nothing = Carried::body(&Bytes::new());
                let mut stage = Stage::new(self.clone());
                stage.meet(self.now(), &aimed, &nothing);
                stage.settle().await;
                return Response::from_parts(parts, collected.into_body(&self.gateway));
            }
            Collected::Long(..) => Unable::TooLong,
            Collected::Broken(..) => Unable::BrokeOff,
        };
        self.not_done(&aimed, why);
        Response::from_parts(parts, collected.into_body(&self.gateway))
    }

    /// A status goes to the client in place of this response.
    async fn replaced(self, mut aimed: Aimed, status: u16, response: Response<Outbound>) {
        let what = What::Answered { status };
        let (parts, body) = response.into_parts();
        if is_event_stream(&parts.headers) {
            self.drain(aimed, what, body);
        } else {
            // The true answer comes first on the tape.
            collect(body, self.log.limit_bytes()).await;
            aimed.message = self.log.last_message(self.dir);
            self.tell(&aimed, what);
        }
    }

    fn fault_set(&self) -> &Arc<FaultSet> {
        &self.gateway.faults
    }

    fn now(&self) -> Offset {
        self.gateway.clock.now()
    }

    fn tell(&self, aimed: &Aimed, what: What) {
        self.note(aimed.hit.effect(what), aimed.message);
    }

    fn not_done(&self, aimed: &Aimed, why: Unable) {
        self.tell(aimed, What::NotDone { why });
    }

    fn note(&self, effect: Effect, message: Option<MessageNumber>) {
        let faulted = effect.about(message);
        self.log.note(self.dir, EventBody::Faulted(faulted));
    }
}

pub(crate) fn status_of(status: u16, retry_after: Option<u64>) -> Response<Outbound> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Ours::of_fault(status, "a fault was injected").response();
    if status == StatusCode::UNAUTHORIZED {
        // A response 401 has to say how (RFC 9110 §15.5.2).
        let value = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, value);
    }
    if let Some(seconds) = retry_after {
        let value = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

/// Whether what is done needs a text to be done to.
fn changes_text(act: &Act) -> bool {
    matches!(act, Act::Play { .. } | Act::Precede(_) | Act::Repeat(_))
}
