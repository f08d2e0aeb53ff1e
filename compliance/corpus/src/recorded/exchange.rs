//! Requests of a recording that some assertion is about, until they are answered.

use std::rc::Rc;

use bytes::Bytes;
use serde_json::{Map, Value};
use tapewright_schemas::event::{
    Direction, Event, EventBody, Offset, Payload, ResponseHead, SessionKey,
};

use super::about::RequestSubject;
use crate::observation::{Reply, SideMessage};
use crate::plan::AssertionIndex;
use crate::rule::Applies;

/// A request, and everything that has resulted from it so far.
#[derive(Debug)]
pub(super) struct ObservedExchange {
    /// Empty if only the presence of an answer matters.
    pub(super) method: Rc<str>,
    /// The source text of its parameters, if it tests something.
    pub(super) params: Option<Bytes>,
    /// The assertions that it tests.
    pub(super) about: Rc<RequestSubject>,
    pub(super) at: Offset,
    pub(super) session: SessionKey,
    pub(super) transport: Option<Applies>,
    pub(super) between: Vec<SideMessage>,
    pub(super) room: usize,
    pub(super) cancelled: Option<Offset>,
    /// The number of gaps before it.
    pub(super) gaps: u64,
    pub(super) tampered: bool,
    pub(super) listens: bool,
    /// The token of its progress notifications, as JSON.
    pub(super) token: Option<String>,
    /// Its answer shows what the server has.
    pub(super) teaches: bool,
    /// The number of earlier results that asked for input.
    pub(super) rounds: usize,
}

/// An exchange that is over.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) exchange: ObservedExchange,
    pub(super) said: ReplySource,
    pub(super) head: Option<Rc<ResponseHead>>,
    pub(super) took_us: Option<u64>,
    pub(super) seq: Option<u64>,
    pub(super) gap: bool,
    /// We answered, and not the server.
    pub(super) in_place: bool,
}

/// The reply to a request, as source text.
#[derive(Clone, Debug)]
pub(super) enum ReplySource {
    Nothing,
    Result(Bytes),
    Error(Bytes),
}

impl ReplySource {
    /// The result or the error of a message.
    pub(super) fn of(event: &Event, result: Option<&[u8]>, error: Option<&[u8]>) -> Self {
        match (result, error) {
            (_, Some(error)) => Self::Error(source(event, error)),
            (Some(result), None) => Self::Result(source(event, result)),
            (None, None) => Self::Nothing,
        }
    }

    /// It as values.
    pub(super) fn reply(&self) -> Reply {
        match self {
            Self::Nothing => Reply::None,
            Self::Result(result) => Reply::read(Some(result), None),
            Self::Error(error) => Reply::read(None, Some(error)),
        }
    }
}

/// A part of the message of an event.
pub(super) fn source(event: &Event, part: &[u8]) -> Bytes {
    if let EventBody::Message {
        payload: Payload::Whole(all),
        ..
    } = &event.body
    {
        let (outer, inner) = (all.as_ptr_range(), part.as_ptr_range());
        if outer.start <= inner.start && inner.end <= outer.end {
            return all.slice_ref(part);
        }
    }
    Bytes::copy_from_slice(part)
}

/// Parameters as values.
pub(super) fn parameters(source: Option<&[u8]>) -> Option<Map<String, Value>> {
    serde_json::from_slice(source?).ok()
}

/// The maximum size of the messages between a request and its answer that are kept, in bytes.
pub(super) const BETWEEN_BYTES: usize = 1 << 20;
/// The maximum number of such messages.
const BETWEEN: usize = 1_000;

impl ObservedExchange {
    /// Handles a message that came before the answer.
    pub(super) fn hear(&mut self, dir: Direction, text: &[u8]) {
        if !self.listens || self.between.len() >= BETWEEN || self.room < text.len() {
            return;
        }
        if let Ok(message) = serde_json::from_slice(text) {
            self.room -= text.len();
            self.between.push(SideMessage { dir, message });
        }
    }

    /// Adds messages that are inside a request or a result.
    pub(super) fn take(&mut self, messages: Vec<SideMessage>) {
        if self.listens {
            let room = BETWEEN.saturating_sub(self.between.len());
            self.between.extend(messages.into_iter().take(room));
        }
    }

    /// Its parsed parameters.
    pub(super) fn parameters(&self) -> Option<Map<String, Value>> {
        parameters(self.params.as_deref())
    }
}

/// Bytes that were sent unchanged, and wait for any reaction of the server.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) text: Bytes,
    pub(super) about: Vec<AssertionIndex>,
    pub(super) at: Offset,
    pub(super) transport: Option<Applies>,
}
