//! The properties of sessions in a document other than their messages.

use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{ConduitId, SessionKey};

use super::Checker;
use super::results::Results;
use crate::id::Key;
use crate::session::capabilities::Capabilities;
use crate::session::{CapturePair, Session, SessionKind};
use crate::value::Value;

impl Checker {
    /// Begins a session of a document.
    pub(crate) fn begin(&mut self, key: SessionKey) {
        self.document(key);
        self.results.entry(key).or_insert_with(Results::empty);
    }

    /// In a capture the response is next to its request: the next response answers this request and
    /// no other.
    pub(crate) fn beside(&mut self, key: SessionKey, request: &[u8], answered: bool) {
        let envelope = Envelope::parse(request);
        let id = match &envelope.kind {
            Kind::Request { id, .. } => Some(Key::by_value(id)),
            // An answered message is a request, whatever members it lacks.
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

    /// Whether the following messages belong to no session.
    pub(crate) fn sessionless(&mut self, sessionless: bool) {
        self.sessionless = sessionless;
    }

    /// The server's capabilities according to a capture.
    pub(crate) fn declare(&mut self, key: SessionKey, capabilities: Option<&[u8]>) {
        let read = |text| Capabilities::read(Value(text));
        self.document(key).declared = Some(capabilities.map(read));
    }
}
