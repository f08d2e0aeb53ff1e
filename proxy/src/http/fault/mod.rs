//! Faults on exchanges: what the client gets in place of a response, or later.
//!
//! What a server answers has been recorded before a fault acts on it, so that the tape has
//! what would have passed. A body is held until it is whole, up to the message limit; event
//! streams are looked at event by event, wherever in a session the answer comes. What a
//! client sends can come later, or never.

mod aim;
mod alarm;
mod carried;
mod cut;
mod cutter;
mod expected;
mod hold;
mod late;
mod leaving;
mod outcome;
mod play;
mod request;
mod stream;
mod watched;
mod wedges;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_engine::fault::{Act, Book, Move};
use tapewright_engine::policy::{Hold, Step};
use tapewright_schemas::event::{Direction, Effect, EventBody, MessageNumber, Unable, What};

pub(crate) use self::aim::Aimed;
pub(crate) use self::alarm::Alarm;
use self::carried::Carried;
pub(crate) use self::cut::{CutBehind, CutOff, cut_off};
pub(crate) use self::cutter::Ends;
pub(crate) use self::expected::Expected;
use self::hold::{Held, wait};
use self::leaving::Leaving;
use self::outcome::Outcome;
use self::play::{Collected, Player, collect};
pub(crate) use self::request::accepted;
use self::watched::Watched;
pub(crate) use self::wedges::{Wedged, Wedges};
use crate::http::body::Outbound;
use crate::http::gateway::{Exchange, Gateway, Ours};
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
        exchange: &Arc<Exchange>,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        let is_stream = is_event_stream(response.headers());
        let mut response = response;
        if !self.is_calm() {
            if let Some(held) = self.wedge() {
                match self.wait_behind(&held, response, is_stream).await {
                    Some(passed) if is_stream => response = passed,
                    Some(passed) => return passed,
                    None => return cut_off(),
                }
            }
            // It may have been taken away while the answer was on its way.
            let aimed = exchange.aimed();
            if let Some(aimed) = aimed.filter(|aimed| self.book().is_in_force(&aimed.hit)) {
                // What it does to a message tells what it does to a response.
                let act = aimed.act(b"");
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
        held: &Held,
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
        let message = self.log.last_message(self.dir);
        self.note(Effect::plain(What::Behind { holder: None }), message);
        let leaving = Leaving::new(self, None, message);
        let due = self.book().due_at(held.ticket());
        let over = wait(&self.gateway, held.ticket(), due).await;
        if over == Hold::Cut {
            leaving.cut();
            return None;
        }
        leaving.over(over);
        Some(Response::from_parts(parts, whole.into_body(&self.gateway)))
    }

    /// Lets faults act on the events of a stream, as soon as any is in force.
    fn watch(self, exchange: &Arc<Exchange>, response: Response<Outbound>) -> Response<Outbound> {
        let (mut parts, body) = response.into_parts();
        // Nobody can read it on its way, or it is there already.
        let is_coded = parts.headers.contains_key(header::CONTENT_ENCODING);
        let is_short = self.is_calm() && parts.headers.contains_key(header::CONTENT_LENGTH);
        if is_coded || is_short {
            return Response::from_parts(parts, body);
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        let watched = Watched::new(body, self, Arc::clone(exchange));
        Response::from_parts(parts, Outbound::streaming(watched))
    }

    /// What the session is silent for, if it is.
    fn wedge(&self) -> Option<Arc<Held>> {
        let wedges = &self.gateway.wedges;
        wedges.held(&self.talk, self.book(), self.now())
    }

    async fn inject(
        self,
        mut aimed: Aimed,
        act: Act,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        let (mut parts, body) = response.into_parts();
        let in_its_place = match act {
            Act::Status {
                status,
                retry_after,
            } => Some((status, retry_after)),
            _ => None,
        };
        if let Some((status, retry_after)) = in_its_place {
            self.replaced(aimed, status, Response::from_parts(parts, body))
                .await;
            return status_of(status, retry_after);
        }
        // Whole, its message is on the tape, and what is said is said of it.
        let collected = collect(body, self.log.limit_bytes()).await;
        aimed.message = self.log.last_message(self.dir);
        if let Act::Delay { time, .. } = act {
            self.delay(&aimed, time).await;
            return Response::from_parts(parts, collected.into_body(&self.gateway));
        }
        let whole = match collected {
            Collected::Whole(whole) => whole,
            other => {
                let is_long = matches!(other, Collected::Long(..));
                let why = if is_long {
                    Unable::TooLong
                } else {
                    Unable::BrokeOff
                };
                self.not_done(&aimed, why);
                return Response::from_parts(parts, other.into_body(&self.gateway));
            }
        };
        if whole.is_empty() && changes_text(&act) {
            self.not_done(&aimed, Unable::NoAnswer);
            return Response::from_parts(parts, Outbound::empty());
        }
        match self.act(&aimed, &Carried::body(&whole)).await {
            Outcome::Cut => cut_off(),
            Outcome::Nothing => {
                parts.headers.remove(header::CONTENT_LENGTH);
                Response::from_parts(parts, Outbound::empty())
            }
            Outcome::Pass => Response::from_parts(parts, Outbound::whole(whole)),
            Outcome::Play(moves) => {
                parts.headers.remove(header::CONTENT_LENGTH);
                let player = Player::new(self, aimed);
                Response::from_parts(parts, player.start(moves))
            }
        }
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

    /// From here on the receiver waits for what a fault holds.
    fn leaving(&self, aimed: &Aimed) -> Leaving {
        Leaving::new(self, Some(aimed), aimed.message)
    }

    fn book(&self) -> &Arc<Book> {
        &self.gateway.faults
    }

    fn now(&self) -> tapewright_schemas::event::Offset {
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
    let mut response = Ours::new(status, "a fault was injected").response();
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
    match act {
        Act::Precede(_) | Act::Repeat(_) => true,
        Act::Play { moves, .. } => !moves.contains(&Move::Step(Step::Cut)),
        _ => false,
    }
}
