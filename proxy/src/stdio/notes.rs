//! Where what happens in a conversation is noted.

use std::sync::Arc;

use tapewright_schemas::event::{ConduitId, Direction, Event, EventBody, SessionKey};

use crate::clock::Clock;
use crate::record::Recorder;

/// The numbers that the events of one conversation bear.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Keys {
    pub(crate) conduit: ConduitId,
    pub(crate) session: SessionKey,
}

/// Notes what happens in one conversation, with its time.
#[derive(Clone)]
pub(crate) struct Notes {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) clock: Clock,
    pub(crate) keys: Keys,
}

impl Notes {
    /// Something happens now.
    pub(crate) fn note(&self, dir: Direction, body: EventBody) {
        let mut event = Event::new(self.clock.now(), dir, body);
        event.conduit = self.keys.conduit;
        event.session = self.keys.session;
        let mut event = Some(event);
        self.recorder.record(|| event.take());
    }
}
