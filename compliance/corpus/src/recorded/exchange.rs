//! Requests of a recording that some assertion is about, until they are answered.

use bytes::Bytes;
use serde_json::{Map, Value};
use tapewright_schemas::event::{Direction, Offset, SessionKey};

use crate::observation::{Beside, HttpHead, Reply};
use crate::placeholder::Stands;
use crate::plan::At;
use crate::rule::Applies;

/// A request, and everything that came of it so far.
#[derive(Debug)]
pub(super) struct ObservedExchange {
    pub(super) method: String,
    pub(super) params: Option<Map<String, Value>>,
    /// Which assertions it puts to the test, and whether only if it is refused.
    pub(super) about: Vec<(At, Stands)>,
    pub(super) at: Offset,
    pub(super) session: SessionKey,
    pub(super) transport: Option<Applies>,
    pub(super) between: Vec<Beside>,
    pub(super) room: usize,
    pub(super) cancelled: Option<Offset>,
    /// How many gaps there were before it.
    pub(super) gaps: u64,
    pub(super) tampered: bool,
    pub(super) listens: bool,
    /// It teaches us what the server has.
    pub(super) teaches: bool,
    /// How many results asked for input before.
    pub(super) rounds: usize,
}

/// An exchange that is over.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) exchange: ObservedExchange,
    pub(super) reply: Reply,
    pub(super) head: Option<HttpHead>,
    pub(super) took_us: Option<u64>,
    pub(super) seq: Option<u64>,
    pub(super) gap: bool,
    /// We answered, and not the server.
    pub(super) in_place: bool,
}

/// How much is kept of what comes between a request and its answer, in bytes.
pub(super) const BETWEEN_BYTES: usize = 1 << 20;
/// How many messages.
const BETWEEN: usize = 1_000;

impl ObservedExchange {
    /// Takes a message that came before the answer.
    pub(super) fn hear(&mut self, dir: Direction, text: &[u8]) {
        if !self.listens || self.between.len() >= BETWEEN || self.room < text.len() {
            return;
        }
        if let Ok(message) = serde_json::from_slice(text) {
            self.room -= text.len();
            self.between.push(Beside { dir, message });
        }
    }

    /// Takes messages that stand within a request or a result.
    pub(super) fn take(&mut self, messages: Vec<Beside>) {
        if self.listens {
            let room = BETWEEN.saturating_sub(self.between.len());
            self.between.extend(messages.into_iter().take(room));
        }
    }

    /// The token by which it is told of its progress.
    pub(super) fn token(&self) -> Option<&Value> {
        self.params.as_ref()?.get("_meta")?.get("progressToken")
    }
}

/// Bytes that were sent as they stand, and wait for whatever the server says to them.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) text: Bytes,
    pub(super) about: Vec<At>,
    pub(super) at: Offset,
    pub(super) transport: Option<Applies>,
}
