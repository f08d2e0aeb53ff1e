//! Faults on exchanges: what the client gets in place of a response, or later.
//!
//! Over HTTP every fault acts on the response to a matched request. The server's answer
//! has been recorded by then, so that the tape has what would have passed. A body is held
//! until it is whole, up to the message limit; of an event stream the answer alone is.

mod aim;
mod carried;
mod hold;
mod leaving;
mod outcome;
mod play;
mod request;
mod stream;
mod wedges;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_engine::fault::{Act, Book};
use tapewright_engine::policy::Hold;
use tapewright_schemas::event::{Direction, Effect, EventBody};

pub(crate) use self::aim::Aimed;
use self::carried::Carried;
use self::hold::wait;
use self::leaving::Leaving;
use self::outcome::Outcome;
use self::play::{Collected, Player, collect};
pub(crate) use self::request::accepted;
pub(crate) use self::wedges::{Wedged, Wedges};
use crate::http::body::Outbound;
use crate::http::gateway::{Gateway, Ours};
use crate::http::tap::Log;

/// Tells a connection to end without the response that carries this.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault cut the connection")]
pub(crate) struct CutOff;

/// One response or request, and where it belongs.
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
        aimed: Option<Aimed>,
        response: Response<Outbound>,
    ) -> Response<Outbound> {
        let wedge = self
            .gateway
            .wedges
            .held(&self.talk, self.book(), self.now());
        if let Some(held) = wedge {
            self.note("waits behind an earlier answer that a fault holds");
            let (parts, body) = response.into_parts();
            // A stream may have no end.
            let whole = if is_event_stream(&parts) {
                Collected::Long(Bytes::new(), body)
            } else {
                collect(body, self.log.limit_bytes()).await
            };
            let leaving = self.leaving(None);
            let due = self.book().due_at(held.ticket());
            let over = wait(self.book(), self.gateway.clock, held.ticket(), due).await;
            return if over == Hold::Cut {
                leaving.cut();
                cut_off()
            } else {
                leaving.passed();
                Response::from_parts(parts, whole.into_body(&self.gateway))
            };
        }
        match aimed {
            // It may have been taken away while the answer was on its way.
            Some(aimed) if self.book().is_in_force(&aimed.hit) => {
                self.inject(aimed, response).await
            }
            _ => response,
        }
    }

    async fn inject(self, aimed: Aimed, response: Response<Outbound>) -> Response<Outbound> {
        // What it does to a message tells what it does to a response.
        let act = aimed.act(b"");
        let (mut parts, body) = response.into_parts();
        if is_event_stream(&parts) && !matches!(act, Act::Status { .. }) {
            // Whatever comes before the answer passes as it comes.
            parts.headers.remove(header::CONTENT_LENGTH);
            return Response::from_parts(parts, self.stream(aimed, body));
        }
        if let Act::Delay { time, .. } = act {
            self.delay(&aimed, time).await;
            return Response::from_parts(parts, body);
        }
        let whole = match collect(body, self.log.limit_bytes()).await {
            Collected::Whole(whole) => whole,
            other => {
                self.tell(
                    &aimed,
                    "passed on: it is too long to be changed, or broke off",
                );
                return Response::from_parts(parts, other.into_body(&self.gateway));
            }
        };
        match self.act(&aimed, &Carried::body(&whole)).await {
            Outcome::Cut => cut_off(),
            Outcome::Nothing => {
                parts.headers.remove(header::CONTENT_LENGTH);
                Response::from_parts(parts, Outbound::empty())
            }
            Outcome::Pass => Response::from_parts(parts, Outbound::whole(whole)),
            Outcome::Play(moves) => {
                parts.headers.remove(header::CONTENT_LENGTH);
                let player = Player::new(&self.gateway, aimed.hit.clone());
                Response::from_parts(parts, player.start(moves))
            }
            Outcome::Status(status, retry_after) => status_of(status, retry_after),
        }
    }

    /// From here on the client waits for what is held.
    fn leaving(&self, aimed: Option<&Aimed>) -> Leaving {
        let fault = aimed.map(named);
        Leaving::new(&self.log, &self.gateway, fault)
    }

    fn book(&self) -> &Arc<Book> {
        &self.gateway.faults
    }

    fn now(&self) -> tapewright_schemas::event::Offset {
        self.gateway.clock.now()
    }

    fn tell(&self, aimed: &Aimed, what: &str) {
        let fault = named(aimed);
        let fault = Some(fault.as_str());
        self.note(&Effect { fault, what }.to_string());
    }

    fn note(&self, effect: &str) {
        let effect = effect.to_owned();
        self.log.note(self.dir, EventBody::Faulted { effect });
    }
}

/// A fault, as the tape names it.
fn named(aimed: &Aimed) -> String {
    format!("{} ({})", aimed.hit.name, aimed.hit.kind().name)
}

/// No response at all: the connection ends.
fn cut_off() -> Response<Outbound> {
    let mut response = Response::new(Outbound::empty());
    response.extensions_mut().insert(CutOff);
    response
}

fn status_of(status: u16, retry_after: Option<u64>) -> Response<Outbound> {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = Ours::new(status, "a fault was injected").response();
    if let Some(seconds) = retry_after {
        let value = HeaderValue::from(seconds);
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    response
}

fn is_event_stream(parts: &http::response::Parts) -> bool {
    crate::http::tap::is_event_stream(&parts.headers)
}
