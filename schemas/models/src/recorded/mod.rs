//! Exchanges with a provider from a recording, in a form that can be served again.

mod open;

use std::collections::HashMap;

use bytes::Bytes;
use tapewright_schemas::event::{ConduitId, Event, EventBody, Fields, Head, Offset};
use tapewright_schemas::order::Order as _;

use self::open::Open;
use crate::calls::path_of;
use crate::conversation::StreamEnd;
use crate::recognise::{Call, Framing, recognise};
use crate::stream::{Ended, StreamReader};

/// One exchange of an agent with a provider: a model call, or any other request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderExchange {
    /// The number of the event that has the head of its request.
    pub seq: u64,
    /// When that passed.
    pub at: Offset,
    /// `POST`, `GET`, …
    pub method: String,
    /// Path and query of the request.
    pub target: String,
    /// The fields of the request, in order.
    pub fields: Fields,
    /// The recorded body of the request, without content encodings and secrets.
    pub body: Bytes,
    /// The response; `None` if there was none.
    pub answer: Option<Answer>,
}

/// A provider's response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The fields of the response, in order.
    pub fields: Fields,
    /// Whether it is an event stream, in which each piece is an event.
    pub is_events: bool,
    /// The time from the end of the request to the beginning of the response.
    pub waited: Offset,
    /// The body, without content encodings.
    pub pieces: Vec<Piece>,
    /// Whether the body is complete; otherwise it broke off here.
    pub is_whole: bool,
}

/// A part of a body: an event of a stream, or everything that arrived at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The time since the piece before it.
    pub waited: Offset,
    /// Its bytes; for an event, with its framing.
    pub bytes: Bytes,
}

impl ProviderExchange {
    /// The provider call that it is, according to its address and head.
    #[must_use]
    pub fn call(&self) -> Option<Call> {
        let field = |name: &str| self.fields.get(name);
        recognise(&self.method, &self.target, field, Some(&self.body))
    }
}

impl Answer {
    /// The answer to a call, in any form; `None` if it cannot be read.
    #[must_use]
    pub fn said(&self, call: &Call) -> Option<Ended> {
        let is_list = call.stream == Some(true) && call.framing == Framing::JsonArray;
        let framing = match self.is_events {
            true => Framing::Sse,
            false if is_list => Framing::JsonArray,
            false => {
                let response = call.wire.read_response(&self.body()).ok()?;
                let end = StreamEnd::Complete;
                return Some(Ended { response, end });
            }
        };
        let mut reader = StreamReader::new(call.wire, framing);
        for piece in &self.pieces {
            reader.feed(&piece.bytes).ok()?;
        }
        Some(reader.finish())
    }

    /// The time from the end of the request to the end of the response.
    #[must_use]
    pub fn took(&self) -> Offset {
        let pieces = self.pieces.iter();
        pieces.fold(self.waited, |time, piece| time.plus(piece.waited))
    }

    /// The body as one piece.
    #[must_use]
    pub fn body(&self) -> Bytes {
        match self.pieces.as_slice() {
            [only] => only.bytes.clone(),
            pieces => {
                let all: Vec<&[u8]> = pieces.iter().map(|piece| &*piece.bytes).collect();
                all.concat().into()
            }
        }
    }
}

/// Folds events to the exchanges among them that carried no MCP.
#[derive(Debug, Default)]
pub struct ProviderExchanges {
    open: HashMap<ConduitId, Open>,
    ended: Vec<ProviderExchange>,
    bytes: usize,
    passed_over: u64,
}

/// The maximum number of exchanges that are kept, and of their bytes; the rest is counted.
const MOST: usize = 20_000;
const MOST_BYTES: usize = 512 << 20;

impl ProviderExchanges {
    /// Handles the next event.
    pub fn observe(&mut self, event: &Event) {
        if let EventBody::Head(head) = &event.body
            && let Head::Request(head) = &**head
        {
            let before = self
                .open
                .insert(event.conduit, Open::new(head, path_of(&head.target), event));
            if let Some(before) = before {
                self.keep(before);
            }
            return;
        }
        // Events other than HTTP are on conduits that were never opened here.
        let Some(open) = self.open.get_mut(&event.conduit) else {
            return;
        };
        let before = open.bytes();
        let is_over = open.observe(event, self.bytes < MOST_BYTES);
        self.bytes += open.bytes() - before;
        if is_over && let Some(open) = self.open.remove(&event.conduit) {
            self.keep(open);
        }
    }

    /// The exchanges in the order of their requests, and how many more there were than were kept.
    #[must_use]
    pub fn finish(mut self) -> (Vec<ProviderExchange>, u64) {
        let open: Vec<Open> = std::mem::take(&mut self.open).into_values().collect();
        for open in open {
            self.keep(open);
        }
        self.ended.order_by_key(|exchange| exchange.seq);
        (self.ended, self.passed_over)
    }

    fn keep(&mut self, open: Open) {
        let bytes = open.bytes();
        let is_clipped = open.is_clipped();
        match open.into_exchange() {
            // An incomplete request cannot be distinguished from others.
            Some(_) if is_clipped || self.ended.len() >= MOST => self.passed_over += 1,
            Some(exchange) => return self.ended.push(exchange),
            None => {}
        }
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests;
