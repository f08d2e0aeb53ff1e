//! What is known of an event after its line was read.

use crate::envelope::{Envelope, Outline};
use crate::event::{Event, EventBody, Payload};

/// What was validated about the event of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Proof {
    /// It is a message that is recorded on the line as JSON.
    pub(super) is_json: bool,
    /// Its outline, if it is an object.
    pub(super) outline: Option<Outline>,
}

impl Proof {
    /// The parsed message of the validated event; `None` if it was not recorded on its line as
    /// JSON.
    pub(super) fn envelope<'a>(&self, event: &'a Event) -> Option<Envelope<'a>> {
        let EventBody::Message {
            payload: Payload::Whole(bytes),
            ..
        } = &event.body
        else {
            return None;
        };
        if !self.is_json || std::str::from_utf8(bytes).is_err() {
            return None;
        }
        Some(match &self.outline {
            Some(outline) => outline.envelope(bytes),
            None => Envelope::of_json(bytes),
        })
    }
}
