//! The state of each session of a recording.

use std::collections::BTreeSet;

use tapewright_schemas::conversation::Handle;
use tapewright_schemas::event::{Event, SessionKey};
use tapewright_schemas::json;

use super::{MOST, Recorded};

/// The session ids that servers gave, as the recording has them.
#[derive(Debug, Default)]
pub(super) struct Issued {
    open: BTreeSet<String>,
    is_any: bool,
    // There were more than fit, so any id may be one of them.
    is_more: bool,
}

impl Issued {
    /// A server gives an id.
    pub(super) fn give(&mut self, id: &str) {
        self.is_any = true;
        if self.open.contains(id) {
            return;
        }
        if self.open.len() < MOST {
            self.open.insert(id.to_owned());
        } else {
            self.is_more = true;
        }
    }

    /// A client has ended a session: its id is no longer valid (2025-03-26, basic/transports
    /// §Session Management).
    pub(super) fn end(&mut self, id: &str) {
        self.open.remove(id);
    }

    /// Whether any was issued.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether a session with this id may be open, as far as is known.
    pub(super) fn may_have(&self, id: &str) -> bool {
        self.is_more || self.open.contains(id)
    }
}

/// The state of a session.
#[derive(Debug, Default)]
pub(super) struct SessionFacts {
    pub(super) revision: Option<String>,
    pub(super) cancelled: u64,
    pub(super) goes_on: bool,
}

impl Recorded<'_> {
    /// Handles what a request shows about its session: `revision` is the one that it names.
    pub(super) fn session_of(&mut self, event: &Event, method: &str, revision: Option<&str>) {
        if self.sessions.len() >= MOST {
            self.sessions.clear();
        }
        let session = self.sessions.entry(event.session).or_default();
        if method == "initialize" {
            session.revision = None;
        } else if let Some(version) = revision
            && session.revision.as_deref() != Some(version)
        {
            session.revision = Some(version.to_owned());
        }
    }

    /// The client gives a request up; its handle is known while it is pending.
    pub(super) fn cancel(&mut self, event: &Event, handle: Option<Handle>, params: Option<&[u8]>) {
        let id = params.and_then(|params| json::find(params, &["requestId"]));
        if id.is_none() {
            return;
        }
        // One that is answered already is cancelled too late, which every server must bear.
        let session = self.sessions.entry(event.session).or_default();
        session.cancelled += 1;
        if let Some(exchange) = handle.and_then(|handle| self.open.get_mut(handle)) {
            exchange.cancelled = Some(event.at);
        }
    }

    pub(super) fn went_on(&mut self, session: SessionKey, was_cancelled: bool) {
        if let Some(session) = self.sessions.get_mut(&session)
            && session.cancelled > 0
            && !was_cancelled
        {
            session.goes_on = true;
        }
    }
}
