//! What is known of each session of a recording.

use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::event::{Event, SessionKey};
use tapewright_schemas::json;

use super::{MOST, Recorded};

/// What is known of a session.
#[derive(Debug, Default)]
pub(super) struct SessionFacts {
    pub(super) revision: Option<String>,
    pub(super) cancelled: u64,
    pub(super) goes_on: bool,
}

impl Recorded<'_> {
    /// What a request says of its session: `revision` is what it names.
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

    pub(super) fn cancel(&mut self, event: &Event, params: Option<&[u8]>) {
        let id = params.and_then(|params| json::find(params, &["requestId"]));
        let Some(id) = id.map(IdKey::exact_of) else {
            return;
        };
        // One that is answered already is cancelled too late, which every server must bear.
        let session = self.sessions.entry(event.session).or_default();
        session.cancelled += 1;
        let handle = self.open.find(event.scope(), event.dir, id);
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
