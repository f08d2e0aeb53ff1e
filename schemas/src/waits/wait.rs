//! One request that waits for its answer.

use crate::envelope::{Envelope, RequestId};
use crate::era::Era;
use crate::event::{
    ConduitId, Direction, Event, FaultRef, MessageNumber, Offset, Scope, SessionKey,
};
use crate::json;

/// A request, and what became of it so far.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Its place on the tape.
    pub seq: u64,
    /// When it was seen.
    pub at: Offset,
    /// Its session.
    pub session: SessionKey,
    /// The conduit on which it came.
    pub conduit: ConduitId,
    /// Which way it travelled.
    pub dir: Direction,
    /// Its id, as it was written, or the beginning of it.
    pub id: String,
    /// Its method.
    pub method: String,
    /// Which tool, resource or prompt it is about.
    pub name: Option<String>,
    /// The fault that has to do with its waiting.
    pub fault: Option<FaultRef>,
    /// When its true answer came, where a fault keeps that back.
    pub answered: Option<Offset>,
    pub(super) scope: Scope,
    pub(super) era: Option<Era>,
    pub(super) key: Vec<u8>,
    pub(super) state: State,
    /// A fault keeps the request or its answer back.
    pub(super) kept: bool,
    /// The message that a fault holds, which is its answer.
    pub(super) held: Option<MessageNumber>,
    /// It was told that this hangs.
    pub(super) told: bool,
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// For its answer.
    Open,
    /// The last message of its stream was its answer: only a fault may still keep it.
    Fresh,
    /// For the end of a fault that keeps the answer, which came on this conduit.
    Kept(ConduitId),
    /// For a time.
    Until(Offset),
}

/// How much of a text of a peer is shown, in bytes.
const SHOWN_BYTES: usize = 200;

impl Wait {
    pub(super) fn new(
        event: &Event,
        text: &[u8],
        id: &RequestId<'_>,
        envelope: &Envelope<'_>,
    ) -> Self {
        let source = json::find(text, &["id"]).unwrap_or(b"null");
        let method = envelope.method().unwrap_or_default();
        Self {
            seq: event.seq,
            at: event.at,
            session: event.session,
            conduit: event.conduit,
            dir: event.dir,
            id: shown(&String::from_utf8_lossy(source)),
            method: shown(method),
            name: name_of(method, text),
            fault: None,
            answered: None,
            scope: event.scope(),
            era: event.era,
            key: key(event.scope(), event.dir, id),
            state: State::Open,
            kept: false,
            held: None,
            told: false,
        }
    }

    /// Whether its sender waits for it still.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.state != State::Fresh
    }

    /// Whether a fault keeps the request or its answer back.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.kept
    }
}

/// Which tool is called, which resource read, which prompt got.
#[must_use]
pub fn name_of(method: &str, text: &[u8]) -> Option<String> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" => "uri",
        _ => return None,
    };
    match RequestId::of_source(json::find(text, &["params", member])?) {
        RequestId::Text(name) => Some(shown(&name)),
        _ => None,
    }
}

/// As much of a text of a peer as is shown.
#[must_use]
pub fn shown(text: &str) -> String {
    let mut end = text.len().min(SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut shown = text.get(..end).unwrap_or_default().to_owned();
    if end < text.len() {
        shown.push('…');
    }
    shown
}

/// What names a request: where its id means something, who asked, and the id.
pub(super) fn key(scope: Scope, dir: Direction, id: &RequestId<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(24);
    key.extend_from_slice(&scope.session.0.to_le_bytes());
    key.extend_from_slice(&scope.lane.0.to_le_bytes());
    key.push(dir as u8);
    id.write_key(&mut key);
    key
}
