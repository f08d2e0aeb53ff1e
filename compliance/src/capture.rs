//! Judging a capture, whose responses are next to their requests.

use bytes::Bytes;
use tapewright_schemas::capture::{Capture, CapturedSession};
use tapewright_schemas::event::{
    self, Carrier, ConduitId, Direction, Event, EventBody, LineEnd, Offset, Payload, SessionKey,
    Sink as _,
};

use crate::checker::Checker;
use crate::facts::Keeps;

/// The position of a capture's event in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the session.
    pub session: usize,
    /// Number of the exchange in it.
    pub exchange: usize,
    /// Whether it is the response.
    pub response: bool,
    /// Whether the file is an array of sessions.
    pub array: bool,
}

impl Origin {
    /// The JSON pointer of the message in the file.
    #[must_use]
    pub fn pointer(&self) -> String {
        let side = if self.response { "response" } else { "request" };
        let within = format!("/exchanges/{}/{side}", self.exchange);
        if self.array {
            format!("/{}{within}", self.session)
        } else {
            within
        }
    }
}

/// Passes every message of a capture to a checker; returns the position of each in the file, by its
/// number less one.
pub fn judge(capture: &Capture, keeps: Keeps, checker: &mut Checker) -> Vec<Origin> {
    let mut origins = Vec::new();
    for (number, (place, session)) in (0_u32..).zip(&capture.sessions).enumerate() {
        let mut show = Show {
            key: SessionKey(session.key(place)),
            number,
            array: capture.array,
            checker: &mut *checker,
            origins: &mut origins,
        };
        if keeps == Keeps::Selection {
            show.by_the_letter(session);
        } else {
            show.as_recorded(session);
        }
    }
    origins
}

/// One session to be passed to the checker.
struct Show<'a> {
    key: SessionKey,
    number: usize,
    array: bool,
    checker: &'a mut Checker,
    origins: &'a mut Vec<Origin>,
}

impl Show<'_> {
    /// A capture of another tool: a response answers the request that it is next to.
    fn by_the_letter(&mut self, session: &CapturedSession) {
        self.checker.begin(self.key);
        self.checker
            .declare(self.key, session.capabilities.as_deref());
        for (exchange, one) in session.exchanges.iter().enumerate() {
            self.checker
                .beside(self.key, &one.request, one.response.is_some());
            self.message(exchange, ConduitId(0), Direction::ToServer, &one.request);
            if let Some(response) = &one.response {
                self.message(exchange, ConduitId(0), Direction::ToClient, response);
            }
        }
    }

    /// A capture by tapewright: every message in the order in which it crossed the wire.
    fn as_recorded(&mut self, session: &CapturedSession) {
        if !session.sessionless {
            self.checker.begin(self.key);
        }
        self.checker.sessionless(session.sessionless);
        for (exchange, dir, text) in session.messages() {
            let conduit = if session.sessionless {
                u32::try_from(exchange + 1).unwrap_or(u32::MAX)
            } else {
                0
            };
            self.message(exchange, ConduitId(conduit), dir, text);
        }
        self.checker.sessionless(false);
    }

    fn message(&mut self, exchange: usize, conduit: ConduitId, dir: Direction, text: &Bytes) {
        self.origins.push(Origin {
            session: self.number,
            exchange,
            response: dir == Direction::ToClient,
            array: self.array,
        });
        self.checker.record(&Event {
            conduit,
            seq: self.origins.len() as u64,
            at: Offset(0),
            session: self.key,
            dir,
            era: None,
            body: EventBody::Message {
                payload: Payload::Whole(text.clone()),
                end: LineEnd::Lf,
                origin: event::Origin {
                    carrier: Carrier::Document,
                    ..event::Origin::default()
                },
            },
        });
    }
}
