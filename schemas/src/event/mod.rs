//! What happened in a conversation: the one interface between all components.
//!
//! Transports emit events, the recorder numbers and stores them, judges and projections fold over
//! them. Live events and events from disk have the same type.
//!
//! Over HTTP each exchange is a conduit: its opening, the request's head, the messages of the
//! request, its end, and the same of the response. Session 0 of an HTTP recording is for exchanges
//! without a session: ids are only valid there within their conduit.

mod consequence;
mod effect;
mod fault_ref;
mod fields;
mod finding;
mod http;
mod in_place;
mod origin;
mod origins;
mod scope;
pub(crate) mod tokens;

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use self::tokens::tokens;
use crate::envelope::Envelope;
use crate::era::Era;

pub use self::consequence::{InItsPlace, ReleasedPart};
pub use self::effect::{Effect, Faulted, Release, Replacement, Unable, Unroutable, Until, What};
pub use self::fault_ref::{FaultKind, FaultRef};
pub use self::fields::Fields;
pub use self::finding::{Finding, FindingStatus, Judge, Place, Process, Seen, Severity, Side};
pub use self::http::{
    Added, Edit, EditTarget, Head, RequestHead, ResponseHead, SessionEnd, SessionMark,
    SessionStart, SseNote,
};
pub(crate) use self::in_place::WrittenInPlace;
pub use self::in_place::{InPlace, InPlaceCause};
pub use self::origin::{Carrier, Maker, MessageCount, MessageNumber, Origin};
pub use self::origins::Origins;
pub use self::scope::Scope;

/// Microseconds since the tape began, on a monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Offset(pub u64);

impl Offset {
    /// The offset for this duration.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "2^64 µs are half a million years"
    )]
    pub const fn of(time: Duration) -> Self {
        Self(time.as_micros() as u64)
    }

    /// This much later.
    #[must_use]
    pub const fn plus(self, more: Self) -> Self {
        Self(self.0.saturating_add(more.0))
    }

    /// In milliseconds, as in cassettes.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "an offset of 2^53 µs is 285 years"
    )]
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// The time from `earlier` to this offset; zero if this is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

/// The direction of bytes. Always named by the receiver, which does not depend on the point of
/// view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the client to the server.
    ToServer = 0,
    /// From the server to the client.
    ToClient = 1,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }

    /// The word on the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToServer => "to_server",
            Self::ToClient => "to_client",
        }
    }

    /// The direction with this word on the tape.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::ToServer, Self::ToClient]
            .into_iter()
            .find(|dir| dir.name() == name)
    }

    /// The sender of messages in this direction, as a word of the cassette format.
    #[must_use]
    pub fn sender(self) -> &'static str {
        match self {
            Self::ToServer => "client",
            Self::ToClient => "server",
        }
    }
}

/// Identifies one conduit of a recording: a child process, or one HTTP exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConduitId(pub u32);

/// Identifies one session of a recording. Never the `Mcp-Session-Id` header: a recording of the
/// stateless era also has sessions in this sense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(pub u32);

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its conduit.
    pub conduit: ConduitId,
    /// Its number on the tape, from 1; 0 until the recorder has numbered it.
    pub seq: u64,
    /// When it was seen.
    pub at: Offset,
    /// Its session.
    pub session: SessionKey,
    /// Its direction; for an event of the conduit itself, the side that it concerns.
    pub dir: Direction,
    /// The era of a message, once the recorder has read it.
    pub era: Option<Era>,
    /// Its content.
    pub body: EventBody,
}

impl Event {
    /// An event of the first conduit and session, not yet numbered by the recorder.
    #[must_use]
    pub fn new(at: Offset, dir: Direction, body: EventBody) -> Self {
        let (conduit, session) = Default::default();
        Self {
            conduit,
            seq: 0,
            at,
            session,
            dir,
            era: None,
            body,
        }
    }

    /// How the server's process ended, if this event reports that.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        match &self.body {
            EventBody::Exited(exited) => Some(exited.how),
            _ => None,
        }
    }

    /// Its parsed message, if it is one and is complete.
    #[must_use]
    pub fn envelope(&self) -> Option<Envelope<'_>> {
        match &self.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => Some(Envelope::parse(bytes)),
            _ => None,
        }
    }

    /// Whether it is a message that the recorder made in a peer's place.
    #[must_use]
    pub fn is_made_by_us(&self) -> bool {
        matches!(&self.body, EventBody::Message { origin, .. } if origin.maker == Maker::Recorder)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventBody {
    /// How long the recorder held an HTTP exchange.
    Added(Added),
    /// An HTTP body, or the data of an SSE event, that is not an MCP message.
    Body {
        /// Its bytes, without content encodings.
        payload: Payload,
    },
    /// One direction ended.
    Closed(CloseReason),
    /// The recorder changed something.
    Edited(Box<Edit>),
    /// The server's process ended.
    Exited(Exited),
    /// Something other than forwarding was done to a message. The event follows the message that it
    /// names.
    Faulted(Box<Faulted>),
    /// A judge that watched the recording found something.
    Finding(Box<Finding>),
    /// Something was not recorded.
    Gap(Gap),
    /// An HTTP head passed.
    Head(Box<Head>),
    /// One message, or one line that should have been one.
    Message {
        /// Its bytes.
        payload: Payload,
        /// How its line ended.
        end: LineEnd,
        /// Its origin.
        origin: Origin,
    },
    /// The conduit was opened.
    Opened(Peer),
    /// A part of a message that is still incomplete was forwarded; the message itself follows when
    /// it ends. Written so that a tape that ends here shows what is missing.
    Part {
        /// The number of bytes of the message that had been forwarded.
        bytes: u64,
    },
    /// A session began or ended.
    Session(SessionMark),
    /// A signal reached the recorder and was passed on.
    Signal(String),
    /// The fields of an SSE event other than its data.
    Sse(Box<SseNote>),
    /// One line of the server's standard error, without its line feed.
    Stderr {
        /// The line.
        line: Bytes,
        /// How it ended.
        end: LineEnd,
    },
    /// Trailer fields of an HTTP body.
    Trailers(Box<Fields>),
}

impl EventBody {
    /// An unnumbered message of a peer on a line.
    #[must_use]
    pub fn message(payload: Payload, end: LineEnd) -> Self {
        Self::Message {
            payload,
            end,
            origin: Origin::default(),
        }
    }
}

/// The bytes of a message as they crossed the wire, without the delimiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Longer than the recorder's limit: its length and its first bytes.
    Clipped {
        /// Length of the whole message in bytes.
        len: u64,
        /// Its first bytes.
        head: Bytes,
    },
    /// All of it.
    Whole(Bytes),
}

impl Payload {
    /// Length on the wire, in bytes.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
        match self {
            Self::Clipped { len, .. } => *len,
            Self::Whole(bytes) => bytes.len() as u64,
        }
    }

    /// The recorded bytes.
    #[must_use]
    pub fn kept(&self) -> &Bytes {
        match self {
            Self::Clipped { head, .. } => head,
            Self::Whole(bytes) => bytes,
        }
    }
}

/// How a line ended on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// Carriage return and line feed.
    CrLf,
    /// A line feed.
    #[default]
    Lf,
    /// The stream ended first.
    None,
}

/// The peer of a conduit when it opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peer {
    /// A recording that is served again.
    Cassette,
    /// An HTTP client, on one of its connections.
    Client {
        /// Its address and port.
        address: String,
        /// The number of the connection, from 1.
        connection: u64,
    },
    /// A child process.
    Process {
        /// Its process id.
        pid: u32,
    },
    /// An HTTP server behind a bridge.
    Server {
        /// Its URL, without the query, which may hold a secret.
        url: String,
    },
}

/// Why a direction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The sender closed it.
    EndOfInput,
    /// The receiver closed it.
    ReceiverGone,
    /// The sender broke off in the middle.
    Aborted,
    /// Reading or writing failed in another way.
    Failed,
    /// A policy closed it.
    Policy,
    /// The recorder ended first.
    Stopped,
}

impl CloseReason {
    const ALL: [Self; 6] = [
        Self::Aborted,
        Self::EndOfInput,
        Self::ReceiverGone,
        Self::Failed,
        Self::Policy,
        Self::Stopped,
    ];

    /// The words on the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::EndOfInput => "end of input",
            Self::ReceiverGone => "receiver gone",
            Self::Failed => "failed",
            Self::Policy => "policy",
            Self::Stopped => "stopped",
        }
    }

    /// The reason of words on the tape.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// The end of a server's process as the tape reports it: after everything that the process wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exited {
    /// How it ended.
    pub how: Exit,
    /// How long the recorder delayed its end: the end of its input before it was forwarded, and its
    /// own end before it was reported. The process is not responsible for that time.
    pub ours: Offset,
}

impl From<Exit> for Exited {
    fn from(how: Exit) -> Self {
        let ours = Offset::default();
        Self { how, ours }
    }
}

/// What is missing on a tape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// The number of events.
    pub events: u64,
    /// The number of bytes of payload.
    pub bytes: u64,
    /// Why.
    pub why: GapReason,
    /// The error of the system, if any.
    pub detail: Option<String>,
}

tokens! {
    /// Why something is missing on a tape.
    #[derive(Default)]
    pub enum GapReason {
        /// The tape could not be written.
        Disk = "disk",
        /// The content encoding of a body could not be decoded.
        Encoding = "encoding",
        /// The queue was full.
        QueueFull = "queue_full",
        /// Unknown.
        #[default]
        Unknown = "unknown",
    }
}

/// Anything that follows a conversation: a checker, an encoder, a reporter, a test vector.
pub trait Sink {
    /// Handles the next event.
    fn record(&mut self, event: &Event);
}

impl Sink for Vec<Event> {
    fn record(&mut self, event: &Event) {
        self.push(event.clone());
    }
}
