//! Faults on HTTP exchanges: replace or delay the response to a client.
//!
//! A server's answer is recorded before a fault acts on it, so the tape has what would have been
//! forwarded. A body is held until it is complete, up to the message limit; event streams are
//! examined event by event, wherever in a session the answer comes. A client's message can be
//! delayed or dropped.

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

pub(crate) use self::aim::MatchedFault;
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
use crate::http::gateway::{Gateway, GatewayExchange, LocalAnswer};
use crate::http::tap::{Log, is_event_stream};

/// One response or request, and its context.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) log: Arc<Log>,
    /// The direction of what the fault acts on.
    pub(crate) dir: Direction,
    /// What falls silent together with it.
    pub(crate) talk: Wedged,
}

impl Scene {
    /// Applies the faults, and returns the response for the client.
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
            // It may have been removed while the answer was in transit.
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

    /// Forwards a response when its session is no longer silent; `None` if it is cut then.
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

    /// Lets faults act on the events of a stream, as soon as any is active.
    fn watch(
        self,
        exchange: &Arc<GatewayExchange>,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        let (mut parts, body) = response.into_parts();
        // It is encoded, or has already arrived.
        let is_coded = parts.headers.contains_key(header::CONTENT_ENCODING);
        let is_short = self.is_calm() && parts.headers.contains_key(header::CONTENT_LENGTH);
        if is_coded || is_short {
            return Response::from_parts(parts, body);
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        let watched = Watched::new(body, self, Arc::clone(exchange));
        Response::from_parts(parts, Outbound::streaming(watched))
    }

    /// The ticket that the client waits for, if its session is silent.
    fn wedge(&self) -> Option<Ticket> {
        let wedges = &self.gateway.wedges;
        let waits = self.dir == Direction::ToClient;
        waits.then(|| wedges.held(&self.talk, self.fault_set(), self.now()))?
    }

    /// Whether the session is silent.
    fn is_silent(&self) -> bool {
        self.wedge().is_some()
    }

    async fn inject(
        self,
        mut aimed: MatchedFault,
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
        // When complete, its message is on the tape, and the effect refers to it.
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

    /// Replaces this response by a status.
    async fn replaced(self, mut aimed: MatchedFault, status: u16, response: Response<Outbound>) {
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

    fn tell(&self, aimed: &MatchedFault, what: What) {
        self.note(aimed.hit.effect(what), aimed.message);
    }

    fn not_done(&self, aimed: &MatchedFault, why: Unable) {
        self.tell(aimed, What::NotDone { why });
    }

    fn note(&self, effect: Effect, message: Option<MessageNumber>) {
        let faulted = effect.about(message);
        self.log.note(self.dir, EventBody::Faulted(faulted));
    }
}

pub(crate) fn status_of(status: u16, retry_after: Option<u64>) -> Response<Outbound> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = LocalAnswer::of_fault(status, "a fault was injected").response();
    if status == StatusCode::UNAUTHORIZED {
        // A 401 response must name a scheme (RFC 9110 §15.5.2).
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

/// Whether an act needs the text of a message.
fn changes_text(act: &Act) -> bool {
    matches!(act, Act::Play { .. } | Act::Precede(_) | Act::Repeat(_))
}
