//! The origin of a message: its number, its carrier, its maker.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use super::tokens::tokens;

/// The index of a message in its conduit and direction, from 1. A batch is one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageNumber(NonZeroU64);

impl MessageNumber {
    /// This number; `None` for 0.
    #[must_use]
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// As a plain number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// Counts the messages of one direction of a conduit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount(u64);

impl MessageCount {
    /// The number of the next message.
    pub fn advance(&mut self) -> Option<MessageNumber> {
        self.0 = self.0.saturating_add(1);
        self.last()
    }

    /// The number of the last message, if there was one.
    #[must_use]
    pub fn last(self) -> Option<MessageNumber> {
        MessageNumber::new(self.0)
    }
}

/// The origin of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its number within its conduit and direction; `None` if it was not counted.
    pub number: Option<MessageNumber>,
    /// What carried it.
    pub carrier: Carrier,
    /// Who made it.
    pub maker: Maker,
    /// The event that carried it had `event: message`, which is optional (the default name of an
    /// event, WHATWG HTML §9.2.6).
    pub named: bool,
}

impl Origin {
    /// A message of a peer on a line, with this number.
    #[must_use]
    pub fn line(number: Option<MessageNumber>) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }
}

tokens! {
    /// What carried a message, as far as it was known when the message was split off.
    #[derive(Default)]
    pub enum Carrier {
        /// A line of standard input or output.
        #[default]
        Line = "line",
        /// The body of a POST.
        Post = "post",
        /// The JSON body of the answer to a POST.
        PostAnswer = "post_answer",
        /// An event of the stream that answers a POST.
        PostStream = "post_stream",
        /// An event of the stream that a GET opened.
        GetStream = "get_stream",
        /// An event of a stream that a GET with `Last-Event-ID` resumed.
        ResumedStream = "resumed_stream",
        /// The body of a POST of HTTP+SSE (2024-11-05, basic/transports).
        LegacyPost = "legacy_post",
        /// An event of the stream of HTTP+SSE (2024-11-05), which carries all messages of a server
        /// in a session.
        LegacyStream = "legacy_stream",
        /// An event of the stream that answers `subscriptions/listen` (2026-07-28,
        /// basic/patterns/subscriptions).
        Listen = "listen",
        /// A document: a capture, or a cassette of other tools.
        Document = "document",
    }
}

impl Carrier {
    /// Whether it is an event of a stream of server-sent events.
    #[must_use]
    pub const fn is_stream(self) -> bool {
        matches!(
            self,
            Self::PostStream
                | Self::GetStream
                | Self::ResumedStream
                | Self::LegacyStream
                | Self::Listen
        )
    }

    /// Whether it is the body of a POST, on its way to the server.
    #[must_use]
    pub const fn is_post(self) -> bool {
        matches!(self, Self::Post | Self::LegacyPost)
    }

    /// Whether it came with the answer to a POST, as JSON or as an event.
    #[must_use]
    pub const fn answers_post(self) -> bool {
        matches!(self, Self::PostAnswer | Self::PostStream | Self::Listen)
    }

    /// Whether the transport is HTTP+SSE of 2024-11-05.
    #[must_use]
    pub const fn is_legacy(self) -> bool {
        matches!(self, Self::LegacyPost | Self::LegacyStream)
    }

    /// Whether the transport is streamable HTTP (from 2025-03-26 on).
    #[must_use]
    pub const fn is_streamable(self) -> bool {
        self.is_http() && !self.is_legacy()
    }

    /// Whether HTTP carried it, in any revision.
    #[must_use]
    pub const fn is_http(self) -> bool {
        !matches!(self, Self::Line | Self::Document)
    }
}

tokens! {
    /// Who made a message.
    #[derive(Default)]
    pub enum Maker {
        /// The peer from whose side it comes.
        #[default]
        Peer = "peer",
        /// The recorder, in place of a peer: a bridge's error, the answer of a server that has
        /// ended. A message that a fault makes is described by its effect, and an answer of
        /// tapewright over HTTP by the head of the response.
        Recorder = "recorder",
    }
}
