//! Finds the HTTP exchange of an event, and what is known of it so far.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher as _};

use foldhash::quality::RandomState;

use crate::conversation::Handle;
use crate::event::{
    Added, CloseReason, ConduitId, Direction, Edit, Event, EventBody, Fields, Head, Offset, Peer,
    RequestHead, ResponseHead, SessionKey, SseNote,
};
use crate::order::Order as _;

/// Follows the HTTP exchanges of a recording.
///
/// Pass it every event before handling the event, then ask it which exchange the event belongs to.
/// It returns its data of an exchange when the exchange has ended.
#[derive(Debug, Default)]
pub struct HttpExchanges {
    open: HashMap<ConduitId, HttpExchange, RandomState>,
    // Those whose response has ended, but that one more event may refer to.
    closing: VecDeque<ConduitId>,
    over: VecDeque<(ConduitId, HttpExchange)>,
    seen: SeenIds,
    began: u64,
}

/// One HTTP exchange.
#[derive(Debug, Default)]
pub struct HttpExchange {
    /// Its position among all exchanges, in the order in which they began.
    pub order: u64,
    /// Its session.
    pub session: SessionKey,
    /// The number of the client's connection.
    pub connection: Option<u64>,
    /// When the request's head arrived.
    pub at: Offset,
    /// The request's head.
    pub request: RequestHead,
    /// The response's head, and when it arrived.
    pub response: Option<(Offset, ResponseHead)>,
    /// How the request ended.
    pub request_ended: Option<CloseReason>,
    /// How the response ended, and when.
    pub ended: Option<(Offset, CloseReason)>,
    /// Trailer fields of the request and the response.
    pub trailers: [Option<Fields>; 2],
    /// The edits that the recorder made.
    pub edits: Vec<Edit>,
    /// How long the recorder held it.
    pub added: Option<Added>,
    /// JSON-RPC requests that it carried, by the caller's handles.
    pub requests: Vec<Handle>,
    /// Events of streams, comments included.
    pub notes: u64,
    /// Whether its stream repeated an event that had been sent before.
    pub replays: bool,
    // The SSE fields of the next message, and of the current one.
    next: Option<Box<SseNote>>,
    this: Option<Box<SseNote>>,
    replayed: bool,
    // The exchange whose stream this one continues.
    origin: Option<ConduitId>,
    // A stream of 2024-11-05, on which every answer comes.
    announces: bool,
}

/// What is known about one event.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    /// The fields of the stream's event other than its data.
    pub note: Option<&'a SseNote>,
    /// The status of the response that it belongs to is an error.
    pub failed: bool,
    /// An event that had been sent before and is sent again, after `Last-Event-ID` (2025-03-26,
    /// basic/transports, Resumability and Redelivery).
    pub replayed: bool,
    /// The exchange whose stream it is on: for a resumed stream, the first one.
    pub origin: Option<ConduitId>,
    /// It is on the stream of 2024-11-05 that carries all messages of its session.
    pub announced: bool,
}

/// The maximum number of exchanges that are followed at once; further ones are not.
const LIMIT: usize = 65_536;
/// The maximum number of exchanges that wait for a final event about them.
const CLOSING: usize = 64;
/// The maximum number of edits that are kept for one exchange.
const EDITS: usize = 64;

impl HttpExchanges {
    /// Handles the next event.
    pub fn observe(&mut self, event: &Event) {
        match &event.body {
            EventBody::Head(head) => self.head(event, head),
            EventBody::Opened(Peer::Client { connection, .. }) => {
                if let Some(exchange) = self.enter(event) {
                    exchange.connection = Some(*connection);
                }
            }
            _ if self.open.is_empty() => {}
            EventBody::Closed(reason) => self.closed(event, *reason),
            EventBody::Added(added) => {
                let Some(exchange) = self.open.get_mut(&event.conduit) else {
                    return;
                };
                exchange.added = Some(*added);
                if exchange.ended.is_some() {
                    self.end(event.conduit);
                }
            }
            EventBody::Sse(note) => self.note(event, note),
            EventBody::Message { .. } | EventBody::Body { .. } => {
                if event.dir == Direction::ToClient
                    && let Some(exchange) = self.open.get_mut(&event.conduit)
                {
                    exchange.this = exchange.next.take();
                    exchange.replayed &= exchange.this.is_some();
                }
            }
            EventBody::Trailers(fields) => {
                if let Some(exchange) = self.open.get_mut(&event.conduit)
                    && let Some(place) = exchange.trailers.get_mut(event.dir as usize)
                {
                    *place = Some(fields.as_ref().clone());
                }
            }
            EventBody::Edited(edit) => {
                if let Some(exchange) = self.open.get_mut(&event.conduit)
                    && exchange.edits.len() < EDITS
                {
                    exchange.edits.push(edit.as_ref().clone());
                }
            }
            _ => {}
        }
    }

    /// An exchange that is not over.
    #[must_use]
    pub fn get(&self, conduit: ConduitId) -> Option<&HttpExchange> {
        self.open.get(&conduit)
    }

    /// An exchange that is not over.
    pub fn get_mut(&mut self, conduit: ConduitId) -> Option<&mut HttpExchange> {
        self.open.get_mut(&conduit)
    }

    /// What is known about an event.
    #[must_use]
    pub fn about(&self, event: &Event) -> About<'_> {
        if event.dir == Direction::ToServer || self.open.is_empty() {
            return About::default();
        }
        let Some(exchange) = self.open.get(&event.conduit) else {
            return About::default();
        };
        About {
            note: exchange.this.as_deref(),
            failed: exchange.status() >= 400,
            replayed: exchange.replayed,
            origin: Some(exchange.origin.unwrap_or(event.conduit)),
            announced: exchange.announces,
        }
    }

    /// The next exchange that is over.
    pub fn poll_over(&mut self) -> Option<(ConduitId, HttpExchange)> {
        self.over.pop_front()
    }

    /// Ends all exchanges, in the order in which they began: nothing more will come.
    pub fn finish(&mut self) {
        let mut rest: Vec<_> = self.open.drain().collect();
        rest.order_by_key(|(_, exchange)| exchange.order);
        self.over.extend(rest);
        self.closing.clear();
    }

    fn enter(&mut self, event: &Event) -> Option<&mut HttpExchange> {
        if self.open.len() >= LIMIT && !self.open.contains_key(&event.conduit) {
            return None;
        }
        let began = &mut self.began;
        Some(self.open.entry(event.conduit).or_insert_with(|| {
            *began += 1;
            HttpExchange {
                order: *began,
                session: event.session,
                at: event.at,
                ..HttpExchange::default()
            }
        }))
    }

    fn head(&mut self, event: &Event, head: &Head) {
        let request = match head {
            Head::Request(request) => request,
            Head::Interim(_) => return,
            Head::Response(response) => {
                if let Some(exchange) = self.open.get_mut(&event.conduit) {
                    exchange.response = Some((event.at, response.clone()));
                }
                return;
            }
        };
        let last = request.fields.get("last-event-id");
        let origin = last.and_then(|id| self.seen.stream_of(event.session, id));
        if let Some(exchange) = self.enter(event) {
            exchange.at = event.at;
            exchange.request = request.clone();
            exchange.origin = origin;
        }
    }

    fn note(&mut self, event: &Event, note: &SseNote) {
        let Some(exchange) = self.open.get_mut(&event.conduit) else {
            return;
        };
        exchange.notes += 1;
        exchange.announces |= note.event.as_deref() == Some("endpoint");
        exchange.replayed = false;
        if let Some(id) = note.id.as_deref().filter(|id| !id.is_empty()) {
            let stream = exchange.origin.unwrap_or(event.conduit);
            let new = self.seen.insert(event.session, id, stream);
            exchange.replayed = !new && exchange.origin.is_some();
            exchange.replays |= exchange.replayed;
        }
        exchange.next = note.message.then(|| Box::new(note.clone()));
    }

    fn closed(&mut self, event: &Event, reason: CloseReason) {
        let Some(exchange) = self.open.get_mut(&event.conduit) else {
            return;
        };
        if event.dir == Direction::ToServer {
            exchange.request_ended = Some(reason);
            return;
        }
        exchange.ended = Some((event.at, reason));
        if exchange.added.is_some() {
            return self.end(event.conduit);
        }
        self.closing.push_back(event.conduit);
        if self.closing.len() > CLOSING
            && let Some(oldest) = self.closing.pop_front()
        {
            self.end(oldest);
        }
    }

    fn end(&mut self, conduit: ConduitId) {
        if let Some(exchange) = self.open.remove(&conduit) {
            self.over.push_back((conduit, exchange));
        }
        self.closing.retain(|one| *one != conduit);
    }
}

impl HttpExchange {
    /// The status of the response; 0 while there is none.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.response
            .as_ref()
            .map_or(0, |(_, response)| response.status)
    }

    /// The request's path and query.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.request.target
    }
}

/// The ids of events that were sent, and on which stream.
#[derive(Debug, Default)]
struct SeenIds {
    streams: HashMap<(SessionKey, u64), ConduitId>,
    order: VecDeque<(SessionKey, u64)>,
}

impl SeenIds {
    /// Notes an id; false when it was there before.
    fn insert(&mut self, session: SessionKey, id: &str, stream: ConduitId) -> bool {
        // Without a session, two servers or two clients may use the same id.
        if session == SessionKey(0) {
            return true;
        }
        let key = (session, hash(id));
        if self.streams.contains_key(&key) {
            return false;
        }
        self.streams.insert(key, stream);
        self.order.push_back(key);
        if self.order.len() > LIMIT
            && let Some(oldest) = self.order.pop_front()
        {
            self.streams.remove(&oldest);
        }
        true
    }

    fn stream_of(&self, session: SessionKey, id: &str) -> Option<ConduitId> {
        self.streams.get(&(session, hash(id))).copied()
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(id.as_bytes());
    hasher.finish()
}
