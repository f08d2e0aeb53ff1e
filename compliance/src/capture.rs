//! Judging a capture, whose responses stand beside their requests.

use tapewright_schemas::capture::Capture;
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, LineEnd, Offset, Payload, SessionKey, Sink as _,
};

use crate::checker::Checker;
use crate::facts::Keeps;

/// Where an event of a capture stands in its file.
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

/// Shows every message of a capture to a checker; where each stands in the file, by its
/// number less one.
pub fn judge(capture: &Capture, keeps: Keeps, checker: &mut Checker) -> Vec<Origin> {
    let mut origins = Vec::new();
    for (number, (key, session)) in (0_u32..).zip(&capture.sessions).enumerate() {
        let key = SessionKey(key);
        checker.begin(key);
        if keeps == Keeps::Selection {
            checker.declare(key, session.capabilities.as_deref());
        }
        for (exchange, one) in session.exchanges.iter().enumerate() {
            let mut event = |dir, text: &bytes::Bytes| {
                origins.push(Origin {
                    session: number,
                    exchange,
                    response: dir == Direction::ToClient,
                    array: capture.array,
                });
                message(key, origins.len() as u64, dir, text)
            };
            let request = event(Direction::ToServer, &one.request);
            checker.beside(key, &one.request, one.response.is_some());
            checker.record(&request);
            if let Some(response) = &one.response {
                let response = event(Direction::ToClient, response);
                checker.record(&response);
            }
        }
    }
    origins
}

fn message(key: SessionKey, seq: u64, dir: Direction, text: &bytes::Bytes) -> Event {
    Event {
        conduit: ConduitId(0),
        seq,
        at: Offset(0),
        session: key,
        dir,
        era: None,
        body: EventBody::Message {
            payload: Payload::Whole(text.clone()),
            end: LineEnd::Lf,
        },
    }
}
