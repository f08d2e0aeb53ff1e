//! Which of the two protocol eras a message belongs to.
//!
//! Revisions up to 2025-11-25 open with a handshake; from 2026-07-28 on every request describes
//! itself in `_meta` and there is no session state. One process or endpoint may serve both at once,
//! and a dual-era client probes one before it settles on the other, so the era is a property of
//! each message (2026-07-28, basic/versioning).

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::conversation::Pairing;
use crate::envelope::{Envelope, Kind};
use crate::event::{Direction, Scope};
use crate::json;

/// The two ways in which revisions of MCP hold a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, then a session: 2024-11-05 to 2025-11-25.
    Handshake,
    /// Each request is independent: from 2026-07-28 on.
    Stateless,
}

impl Era {
    /// The word on the tape.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Stateless => "stateless",
        }
    }

    /// The era with this word on the tape.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Handshake, Self::Stateless]
            .into_iter()
            .find(|era| era.name() == name)
    }
}

impl Era {
    /// The era of the revision in a request's `MCP-Protocol-Version`. A request without it has
    /// 2025-03-26 (2025-06-18, basic/transports).
    #[must_use]
    pub fn of_revision(version: Option<&str>) -> Self {
        // Revisions are dates, and dates in this form are in order.
        match version {
            Some(version) if version >= FIRST_STATELESS => Self::Stateless,
            _ => Self::Handshake,
        }
    }
}

/// The first revision without a handshake.
pub const FIRST_STATELESS: &str = "2026-07-28";

/// The `_meta` member by which a stateless request names its revision
/// (2026-07-28, basic/index §_meta).
pub const PROTOCOL_VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Built once: building it costs more than using it on a small message.
static VERSION_FINDER: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(PROTOCOL_VERSION_KEY));

/// Whether parameters may contain the version.
pub(crate) fn mentions_version(params: &[u8]) -> bool {
    VERSION_FINDER.find(params).is_some()
}

/// The revision that a request's own `_meta` names, as source text with its quotes.
#[must_use]
pub fn own_version(params: &[u8]) -> Option<&[u8]> {
    // Rules out nearly every request of the handshake era without a second scan.
    VERSION_FINDER.find(params)?;
    json::find(params, &["_meta", PROTOCOL_VERSION_KEY])
}

/// Determines the era of each message of one conversation, in order.
#[derive(Debug, Default)]
pub struct EraTracker {
    // The era that was seen first; a message that does not show its era belongs to it.
    base: Option<Era>,
    // The base comes from a `server/discover` alone, which a client of both eras sends to ask what
    // the server supports: a following handshake decides.
    probed: bool,
    // Requests of the other era that still await their response. `None` except with dual-era peers.
    odd: Option<Box<Pairing<()>>>,
}

/// The maximum number of pending requests of the second era; beyond that the oldest is forgotten
/// and its response counts as of the first era.
const ODD_LIMIT: usize = 4_096;

impl EraTracker {
    /// The era of the next message; `None` until a message shows it.
    pub fn observe(&mut self, dir: Direction, envelope: &Envelope<'_>) -> Option<Era> {
        let era = match &envelope.kind {
            Kind::Request { method, params, .. } | Kind::Notification { method, params } => {
                told_by(method, *params)
            }
            Kind::Response { id, .. } => {
                let odd = self.odd.as_mut();
                let odd = odd.and_then(|odd| odd.take(Scope::default(), dir.opposite(), id));
                return odd.map_or(self.base, |()| self.other_era());
            }
            _ => None,
        };
        let Some(era) = era else { return self.base };
        let probes = envelope.method() == Some("server/discover");
        if self.base.is_none() || self.probed && !probes {
            self.base = Some(era);
            self.probed = probes;
        }
        let base = *self.base.get_or_insert(era);
        if let (true, Kind::Request { id, .. }) = (era != base, &envelope.kind) {
            let odd = || Box::new(Pairing::without_memory().with_limit(ODD_LIMIT));
            let odd = self.odd.get_or_insert_with(odd);
            drop(odd.ask(Scope::default(), dir, id, ()));
        }
        Some(era)
    }

    /// Handles a message whose era is already known.
    pub fn told(&mut self, dir: Direction, envelope: &Envelope<'_>) {
        // A message that cannot change anything is not examined.
        if !self.is_settled() {
            self.observe(dir, envelope);
        }
    }

    /// Whether [`told`](Self::told) no longer examines any message.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.base.is_some() && !self.probed
    }

    fn other_era(&self) -> Option<Era> {
        self.base.map(|base| match base {
            Era::Handshake => Era::Stateless,
            Era::Stateless => Era::Handshake,
        })
    }
}

fn told_by(method: &str, params: Option<&[u8]>) -> Option<Era> {
    match method {
        "initialize" | "notifications/initialized" => Some(Era::Handshake),
        "server/discover" => Some(Era::Stateless),
        _ => params.and_then(own_version).map(|_| Era::Stateless),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eras(messages: &[(Direction, &str)]) -> Vec<Option<Era>> {
        let mut tracker = EraTracker::default();
        messages
            .iter()
            .map(|(dir, text)| tracker.observe(*dir, &Envelope::parse(text.as_bytes())))
            .collect()
    }

    const STATELESS: &str = r#"{"id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

    #[test]
    fn the_first_message_may_be_any_stateless_request() {
        use Direction::{ToClient, ToServer};
        let found = eras(&[(ToServer, STATELESS), (ToClient, r#"{"id":1,"result":{}}"#)]);
        assert_eq!(found, [Some(Era::Stateless); 2]);
    }

    #[test]
    fn a_dual_era_probe_and_its_answer_keep_their_own_era() {
        use Direction::{ToClient, ToServer};
        let found = eras(&[
            (ToServer, r#"{"id":0,"method":"initialize","params":{}}"#),
            (ToServer, STATELESS),
            (ToClient, r#"{"id":1,"error":{}}"#),
            (ToClient, r#"{"id":0,"result":{}}"#),
            (ToServer, r#"{"id":2,"method":"ping"}"#),
        ]);
        let (old, new) = (Some(Era::Handshake), Some(Era::Stateless));
        assert_eq!(found, [old, new, new, old, old]);
    }

    #[test]
    fn a_handshake_after_a_probe_decides() {
        use Direction::{ToClient, ToServer};
        let found = eras(&[
            (ToServer, r#"{"id":1,"method":"server/discover"}"#),
            (ToClient, r#"{"id":1,"error":{}}"#),
            (ToServer, r#"{"id":2,"method":"initialize","params":{}}"#),
            (ToClient, r#"{"id":2,"result":{}}"#),
            (ToClient, r#"{"method":"notifications/tools/list_changed"}"#),
        ]);
        let (old, new) = (Some(Era::Handshake), Some(Era::Stateless));
        assert_eq!(found, [new, new, old, old, old]);
    }

    #[test]
    fn nothing_is_claimed_before_anything_told() {
        assert_eq!(eras(&[(Direction::ToClient, "banner")]), [None]);
    }
}
