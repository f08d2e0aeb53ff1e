//! The state of HTTP exchanges, in a session and beyond.

use std::collections::{HashMap, VecDeque};

use crate::id::hash;
use crate::revision::Revisions;
use crate::session::Moment;

/// The state of a session's HTTP exchanges.
#[derive(Debug, Default)]
pub(crate) struct HttpSession {
    /// It is carried by HTTP+SSE, the transport of 2024-11-05.
    pub(crate) legacy: bool,
    /// The version header, if there was no handshake.
    pub(crate) revisions: Option<Revisions>,
    /// The hash of the session id, and where it was issued.
    pub(crate) id: Option<(u64, u64)>,
    /// The events of its streams.
    pub(crate) events: StreamEvents,
}

/// The ids of the events of a session's streams.
#[derive(Debug, Default)]
pub(crate) struct StreamEvents {
    known: HashMap<u64, StreamEvent>,
    order: VecDeque<u64>,
    count: u64,
    // When each stream was closed, and how long its client was told to wait.
    streams: HashMap<u32, Stream>,
    pub(crate) forgotten: bool,
}

/// The position at which an event was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamEvent {
    pub(crate) seq: u64,
    /// The conduit that began its stream.
    pub(crate) stream: u32,
    /// Its index among all events of the session.
    pub(crate) number: u64,
}

/// One stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stream {
    pub(crate) retry_ms: Option<(u64, u64)>,
    pub(crate) closed: Option<Moment>,
}

const EVENTS: usize = 65_536;
const STREAMS: usize = 4_096;

impl StreamEvents {
    pub(crate) fn find(&self, id: &str) -> Option<StreamEvent> {
        self.known.get(&hash(id.as_bytes())).copied()
    }

    pub(crate) fn enter(&mut self, id: &str, stream: u32, seq: u64) {
        let key = hash(id.as_bytes());
        self.count += 1;
        let event = StreamEvent {
            seq,
            stream,
            number: self.count,
        };
        if self.known.contains_key(&key) {
            return;
        }
        self.known.insert(key, event);
        self.order.push_back(key);
        if self.order.len() > EVENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
            self.forgotten = true;
        }
    }

    pub(crate) fn stream(&self, number: u32) -> Option<Stream> {
        self.streams.get(&number).copied()
    }

    pub(crate) fn stream_mut(&mut self, number: u32) -> Option<&mut Stream> {
        if self.streams.len() >= STREAMS && !self.streams.contains_key(&number) {
            return None;
        }
        Some(self.streams.entry(number).or_default())
    }
}

/// The session ids of all exchanges of a recording.
#[derive(Debug, Default)]
pub(crate) struct SessionIds {
    ids: HashMap<u64, SessionIdState>,
    order: VecDeque<u64>,
    // The session that a client's connection was last used for.
    connections: HashMap<u64, u64>,
    lines: VecDeque<u64>,
}

/// One session id.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SessionIdState {
    /// The answer to an `initialize` brought it.
    pub(crate) minted: bool,
    /// When the client ended the session.
    pub(crate) deleted: Option<Moment>,
    /// When the server reported that it does not know it.
    pub(crate) refused: Option<Moment>,
}

const IDS: usize = 16_384;
const CONNECTIONS: usize = 16_384;

impl SessionIds {
    pub(crate) fn find(&self, id: &str) -> Option<SessionIdState> {
        self.ids.get(&hash(id.as_bytes())).copied()
    }

    pub(crate) fn entry(&mut self, id: &str) -> &mut SessionIdState {
        let key = hash(id.as_bytes());
        if !self.ids.contains_key(&key) {
            self.order.push_back(key);
            if self.order.len() > IDS
                && let Some(oldest) = self.order.pop_front()
            {
                self.ids.remove(&oldest);
            }
        }
        self.ids.entry(key).or_default()
    }

    /// The session id that a connection was used with.
    pub(crate) fn used(&self, connection: u64) -> Option<SessionIdState> {
        let id = self.connections.get(&connection)?;
        self.ids.get(id).copied()
    }

    pub(crate) fn uses(&mut self, connection: u64, id: &str) {
        if self
            .connections
            .insert(connection, hash(id.as_bytes()))
            .is_none()
        {
            self.lines.push_back(connection);
            if self.lines.len() > CONNECTIONS
                && let Some(oldest) = self.lines.pop_front()
            {
                self.connections.remove(&oldest);
            }
        }
    }
}

/// The header that carries a session id.
pub(crate) const SESSION_ID: &str = "mcp-session-id";
/// The header that carries the revision.
pub(crate) const VERSION: &str = "mcp-protocol-version";
