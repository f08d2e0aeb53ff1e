//! Tapes of format 1: the only code that knows its sentences.
//!
//! What was done to a message was recorded as a sentence, `hang-1 (hang): held`, and messages had
//! no numbers: a fault was about the message before it, and the messages that it released were
//! named by the ids of their requests.

mod words;

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use crate::conversation::shown;
use crate::envelope::for_each_message;
use crate::event::{
    ConduitId, Direction, Event, EventBody, FaultRef, Faulted, MessageNumber, Origins, Payload,
    What,
};
use crate::json;

pub(crate) use self::words::{
    effect, gap_reason, in_place, is_of_fault, session_end, session_start, tape_failure,
};

/// Converts events of format 1, and those of cassettes, to format 2.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    origins: Origins,
    // The last message of each direction, for the most recent directions.
    last: HashMap<(ConduitId, Direction), Bytes>,
    held: VecDeque<HeldMessage>,
}

/// A message that a fault holds.
#[derive(Debug)]
struct HeldMessage {
    place: (ConduitId, Direction),
    fault: Option<FaultRef>,
    message: Option<MessageNumber>,
    // The ids in it, in their source text.
    ids: Vec<String>,
}

/// The maximum number of directions whose last message a fault may still refer to.
const LAST: usize = 4_096;
/// The maximum number of held messages that are remembered.
const MOST_HELD: usize = 65_536;

impl Translator {
    /// Turns an event into one of format 2.
    pub(crate) fn event(&mut self, event: &mut Event) {
        let (conduit, dir) = (event.conduit, event.dir);
        let place = (conduit, dir);
        let mut id = None;
        match &mut event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => {
                if self.last.len() >= LAST && !self.last.contains_key(&place) {
                    self.last.clear();
                }
                self.last.insert(place, bytes.clone());
            }
            EventBody::Faulted(faulted) => id = translate(faulted),
            _ => {}
        }
        self.origins.complete(event);
        if let EventBody::Faulted(faulted) = &mut event.body {
            self.faulted(conduit, dir, faulted, id);
        }
    }

    fn faulted(
        &mut self,
        conduit: ConduitId,
        dir: Direction,
        faulted: &mut Faulted,
        id: Option<String>,
    ) {
        let place = (conduit, dir);
        let fault = &faulted.effect.fault;
        if let Some(id) = id {
            let fits = |held: &HeldMessage| {
                held.place == place && held.fault == *fault && held.ids.contains(&id)
            };
            let found = self.held.iter().position(fits);
            let held = found.and_then(|found| self.held.remove(found));
            faulted.message = held.and_then(|held| held.message);
        } else if faulted.effect.what.keeps_back() {
            if self.held.len() >= MOST_HELD {
                self.held.pop_front();
            }
            self.held.push_back(HeldMessage {
                place,
                fault: fault.clone(),
                message: faulted.message,
                ids: self.last.get(&place).map(ids).unwrap_or_default(),
            });
        }
    }
}

/// Parses the sentence of an effect, if it is one; returns the id in it.
fn translate(faulted: &mut Faulted) -> Option<String> {
    let What::Other { text } = &faulted.effect.what else {
        return None;
    };
    let (effect, id) = words::take_apart(text);
    if faulted.effect.fault.is_none() {
        faulted.effect = effect;
    }
    id
}

/// The ids of a message.
fn ids(message: &Bytes) -> Vec<String> {
    let mut ids = Vec::new();
    for_each_message(message, |one| {
        let id = json::find(one, &["id"]);
        ids.extend(id.map(|id| shown(&String::from_utf8_lossy(id))));
    });
    ids
}
