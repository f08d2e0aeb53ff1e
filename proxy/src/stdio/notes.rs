//! Records the events of a conversation.

use std::sync::Arc;

use tapewright_schemas::event::{ConduitId, Direction, Event, EventBody, SessionKey};

use crate::clock::Clock;
use crate::record::Recorder;

/// The identifiers of one conversation's events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keys {
    pub(crate) conduit: ConduitId,
    pub(crate) session: SessionKey,
}

/// Records the events of one conversation, with their times.
#[derive(Clone)]
pub(crate) struct Notes {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) keys: Keys,
}

impl Notes {
    /// Records an event with the current time.
    pub(crate) fn note(&self, dir: Direction, body: EventBody) {
        let mut event = Event::new(self.clock.now(), dir, body);
        event.conduit = self.keys.conduit;
        event.session = self.keys.session;
        let mut event = Some(event);
        self.recorder.record(|| event.take());
    }
}
