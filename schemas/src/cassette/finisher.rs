//! Completes the ordered events of a cassette.

use crate::event::{Carrier, Event, EventBody, Offset};
use crate::tape::old::Translator;

/// Numbers ordered events, and adds what a cassette does not contain.
#[derive(Debug)]
pub(super) struct Finisher {
    translator: Translator,
    foreign: bool,
    untimed: bool,
}

impl Finisher {
    /// Creates one for a cassette that another tool wrote, or tapewright; and that has no times, or
    /// some.
    pub(super) fn new(foreign: bool, untimed: bool) -> Self {
        Self {
            translator: Translator::default(),
            foreign,
            untimed,
        }
    }

    /// Makes it the event of this number.
    pub(super) fn finish(&mut self, event: &mut Event, seq: u64) {
        event.seq = seq;
        if self.untimed {
            event.at = Offset::default();
        }
        self.translator.event(event);
        if let EventBody::Message { origin, .. } = &mut event.body
            && self.foreign
        {
            origin.carrier = Carrier::Document;
        }
    }
}
