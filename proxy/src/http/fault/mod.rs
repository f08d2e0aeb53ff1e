//! Faults on exchanges: what the client gets in place of a response, or later.
//!
//! Over HTTP every fault acts on the response to a matched request. The server's response
//! has been recorded by then, so that the tape has what would have passed.

mod aim;
mod hold;
mod play;
mod wedges;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tapewright_engine::fault::{Act, Book, Call, Move, Until};
use tapewright_engine::policy::{Hold, Step};
use tapewright_schemas::event::{Direction, EventBody};

pub(crate) use self::aim::Aimed;
use self::hold::{Held, wait};
use self::play::{Collected, Player, collect};
pub(crate) use self::wedges::{Wedged, Wedges};
use crate::http::body::Outbound;
use crate::http::gateway::{Gateway, Ours};
use crate::http::tap::Log;

/// Tells a connection to end without the response that carries this.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("a fault cut the connection")]
pub(crate) struct CutOff;

/// One response, and where it belongs.
pub(crate) struct Scene {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) log: Arc<Log>,
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
        if let Some(ticket) = self
            .gateway
            .wedges
            .ticket(&self.talk, self.book(), self.now())
        {
            self.note("waits behind an earlier answer that a fault holds");
            let (parts, body) = response.into_parts();
            let kind = parts.headers.get(header::CONTENT_TYPE);
            let is_stream =
                kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
            // A stream may have no end.
            let whole = if is_stream {
                Collected::Long(Bytes::new(), body)
            } else {
                collect(body).await
            };
            return match wait(self.book(), self.gateway.clock, ticket, None).await {
                Hold::Cut => cut_off(),
                _ => Response::from_parts(parts, whole.into_body(&self.gateway)),
            };
        }
        match aimed {
            Some(aimed) => self.inject(aimed, response).await,
            None => response,
        }
    }

    async fn inject(self, aimed: Aimed, response: Response<Outbound>) -> Response<Outbound> {
        let hit = aimed.hit.clone();
        let call = |text, id| Call {
            kind: hit.kind(),
            values: hit.values(),
            dice: hit.dice,
            text,
            end: b"",
            id,
        };
        // What it does to a message tells what it does to a response.
        if let Act::Delay { time, .. } = (hit.kind().act)(&call(b"", None)) {
            self.tell(&aimed, &format!("delayed {} ms", time.as_millis()));
            let due = tapewright_engine::fault::after(self.now(), time);
            if let Some(held) = Held::new(self.book(), &hit, Some(due), Hold::Passing, Hold::Over) {
                wait(self.book(), self.gateway.clock, held.ticket(), Some(due)).await;
            }
            return response;
        }
        let (mut parts, body) = response.into_parts();
        let whole = match collect(body).await {
            Collected::Whole(whole) => whole,
            other => {
                self.tell(
                    &aimed,
                    "passed on: it is too long to be changed, or broke off",
                );
                return Response::from_parts(parts, other.into_body(&self.gateway));
            }
        };
        let place = aimed.place(&whole);
        let text = whole.get(place.clone()).unwrap_or(&whole);
        let act = (hit.kind().act)(&call(text, Some(&aimed.id)));
        let pass = |parts| Response::from_parts(parts, Outbound::whole(whole.clone()));
        match act {
            Act::Hold(Until::Removed) => {
                self.tell(&aimed, "held");
                let Some(held) = Held::new(self.book(), &hit, None, Hold::Lasting, Hold::Over)
                else {
                    return pass(parts);
                };
                wait(self.book(), self.gateway.clock, held.ticket(), None).await;
                pass(parts)
            }
            Act::HoldAll { cut_after } => {
                self.tell(&aimed, "held, with all that follows in its session");
                let due = cut_after.map(|time| tapewright_engine::fault::after(self.now(), time));
                let then = due.map_or(Hold::Over, |_| Hold::Cut);
                let Some(held) = Held::new(self.book(), &hit, due, Hold::Lasting, then) else {
                    return pass(parts);
                };
                let ticket = held.keep();
                self.gateway.wedges.add(self.talk.clone(), ticket);
                match wait(self.book(), self.gateway.clock, ticket, due).await {
                    Hold::Cut => {
                        // Time for those that wait behind it to see the cut.
                        tokio::time::sleep(hold::LOOK * 4).await;
                        self.book().give_back(ticket);
                        cut_off()
                    }
                    _ => pass(parts),
                }
            }
            Act::Drop => {
                self.tell(&aimed, "dropped: a response without its body");
                parts.headers.remove(header::CONTENT_LENGTH);
                Response::from_parts(parts, Outbound::empty())
            }
            Act::Status {
                status,
                retry_after,
            } => {
                self.tell(&aimed, &format!("HTTP status {status} in its place"));
                status_of(status, retry_after)
            }
            Act::Repeat(times) => {
                self.tell(&aimed, &format!("repeated {times} times"));
                let again = Aimed::again(&whole, &place, times);
                self.play(parts, &aimed, vec![Move::send(again)])
            }
            Act::Play(moves) => {
                let at = hit.values().text(hit.kind(), "at");
                self.tell(&aimed, "changed on its way");
                if at == "before" {
                    return cut_off();
                }
                let before = whole.slice(..place.start);
                let behind = whole.slice(place.end..);
                let mut all = vec![Move::send(before)];
                all.extend(moves);
                if !all.contains(&Move::Step(Step::Cut)) {
                    all.push(Move::send(behind));
                }
                self.play(parts, &aimed, all)
            }
            // Refused by the book, or handled above.
            Act::Delay { .. } | Act::Hold(_) | Act::Stall(_) => pass(parts),
        }
    }

    fn play(
        &self,
        mut parts: http::response::Parts,
        aimed: &Aimed,
        moves: Vec<Move>,
    ) -> Response<Outbound> {
        parts.headers.remove(header::CONTENT_LENGTH);
        let player = Player::new(&self.gateway, aimed.hit.clone());
        Response::from_parts(parts, player.start(moves))
    }

    fn book(&self) -> &Arc<Book> {
        &self.gateway.faults
    }

    fn now(&self) -> tapewright_schemas::event::Offset {
        self.gateway.clock.now()
    }

    fn tell(&self, aimed: &Aimed, what: &str) {
        let (name, kind) = (&aimed.hit.name, aimed.hit.kind().name);
        self.note(&format!("{name} ({kind}): {what}"));
    }

    fn note(&self, effect: &str) {
        let effect = effect.to_owned();
        self.log
            .note(Direction::ToClient, EventBody::Faulted { effect });
    }
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

/// So much of a response is held to be changed, in bytes; a longer one passes as it is.
pub(crate) const LIMIT_BYTES: usize = 64 << 20;

/// A whole body, once it is there.
pub(crate) type Whole = Bytes;
