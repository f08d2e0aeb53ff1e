//! What is known of an event once its line was read.

use crate::envelope::{Envelope, Outline};
use crate::event::{Event, EventBody, Payload};

/// What was proved of the event of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Proof {
    /// It is a message that stands on the line as JSON.
    pub(super) is_json: bool,
    /// Its outline, where it is an object.
    pub(super) outline: Option<Outline>,
}

impl Proof {
    /// The message of the event of which it was proved, taken apart; `None` for what did not
    /// stand on its line as JSON.
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
