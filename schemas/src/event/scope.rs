//! The scope in which the ids of messages are valid.

use super::{ConduitId, Event, SessionKey};

/// The conversation in which an id names a request.
///
/// A session; or, without one over HTTP, the single exchange: clients count from zero each, so
/// equal ids of two such exchanges are unrelated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    /// The session; 0 for exchanges without one, and for a recording with only one session.
    pub session: SessionKey,
    /// The exchange, if it belongs to no session; 0 in a session.
    pub exchange: ConduitId,
}

impl Scope {
    /// Whether this is one exchange without a session.
    #[must_use]
    pub fn is_sessionless(self) -> bool {
        self.exchange != ConduitId(0)
    }
}

impl Event {
    /// The scope in which the ids of its message are valid.
    #[must_use]
    pub fn scope(&self) -> Scope {
        let exchange = if self.session == SessionKey(0) {
            self.conduit
        } else {
            ConduitId(0)
        };
        Scope {
            session: self.session,
            exchange,
        }
    }
}
