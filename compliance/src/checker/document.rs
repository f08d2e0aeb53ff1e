//! What a document says of its sessions, beside their messages.

use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{ConduitId, SessionKey};

use super::Checker;
use super::results::Results;
use crate::id::Key;
use crate::session::capabilities::Capabilities;
use crate::session::{CapturePair, Session, SessionKind};
use crate::value::Value;

impl Checker {
    /// A session of a document begins.
    pub(crate) fn begin(&mut self, key: SessionKey) {
        self.document(key);
        self.results.entry(key).or_insert_with(Results::empty);
    }

    /// In a capture the response stands beside its request: the next response answers
    /// this request and no other.
    pub(crate) fn beside(&mut self, key: SessionKey, request: &[u8], answered: bool) {
        let envelope = Envelope::parse(request);
        let id = match &envelope.kind {
            Kind::Request { id, .. } => Some(Key::by_value(id)),
            // What was answered is a request, whatever it lacks.
            Kind::Notification { .. } if answered => Some(Key::Null),
            _ => None,
        };
        self.document(key).beside = Some(CapturePair::new(id));
    }

    fn document(&mut self, key: SessionKey) -> &mut Session {
        let (facts, follows) = (self.facts, self.follows);
        self.sessions.get((key, ConduitId(0)), || {
            Session::new(key, SessionKind::Document, facts, follows)
        })
    }

    /// Whether what comes now belongs to no session.
    pub(crate) fn sessionless(&mut self, sessionless: bool) {
        self.sessionless = sessionless;
    }

    /// What a capture says that the server of a session advertised.
    pub(crate) fn declare(&mut self, key: SessionKey, capabilities: Option<&[u8]>) {
        let read = |text| Capabilities::read(Value(text));
        self.document(key).declared = Some(capabilities.map(read));
    }
}
