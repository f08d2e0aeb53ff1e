//! What faults did to messages: a peer is not blamed for what it did not get.

use std::collections::{BTreeMap, HashMap, HashSet};

use tapewright_schemas::conversation::Handle;
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, FaultRef, MessageNumber, ReleasedPart, Scope, What,
};

/// The requests of messages that a fault may still affect, what faults hold, and who was misled.
///
/// # Bounded memory
///
/// Beyond the limit of misled sides no peer is blamed for a hang any more. The last messages of
/// streams are forgotten beyond theirs, and held messages are then never waited for again.
#[derive(Debug, Default)]
pub(super) struct Faults {
    // The requests of the last message of each stream.
    latest: HashMap<Stream, Latest>,
    held: BTreeMap<(Stream, Option<MessageNumber>), Held>,
    // The receivers of messages, other than requests, that a fault dropped or changed.
    misled: HashSet<(Scope, Direction)>,
    all_misled: bool,
}

/// A direction of a conduit.
type Stream = (ConduitId, Direction);

#[derive(Debug, Default)]
struct Latest {
    seq: u64,
    message: Option<MessageNumber>,
    requests: Vec<Handle>,
}

/// A message that a fault holds.
#[derive(Debug)]
struct Held {
    fault: Option<FaultRef>,
    scope: Scope,
    requests: Vec<Handle>,
}

/// What a fault does to requests.
#[derive(Debug)]
pub(super) enum Told {
    /// Their receiver does not get them as they were sent, or not yet.
    Excused(Vec<Handle>),
    /// They are passed on this much later, or now.
    PassedOn(Vec<Handle>, u64),
}

/// The maximum number of streams, of held messages and of misled sides that are followed.
const LIMIT: usize = 65_536;

impl Faults {
    /// An event has requested this.
    pub(super) fn asked(&mut self, event: &Event, handle: Handle) {
        if self.latest.len() >= LIMIT {
            self.latest.clear();
        }
        let stream = (event.conduit, event.dir);
        let latest = self.latest.entry(stream).or_default();
        if latest.seq != event.seq {
            latest.seq = event.seq;
            latest.requests.clear();
        }
        latest.message = number(event);
        latest.requests.push(handle);
    }

    /// A conduit has ended.
    pub(super) fn closed(&mut self, conduit: ConduitId) {
        for dir in [Direction::ToServer, Direction::ToClient] {
            let stream = (conduit, dir);
            self.latest.remove(&stream);
            // What it still holds is never passed on.
            for held in self.take_held(stream, |_| true) {
                if held.requests.is_empty() {
                    self.mislead(held.scope, dir);
                }
            }
        }
    }

    /// A fault did this to a message, or to the response of an HTTP exchange that has none yet.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<MessageNumber>,
        fault: Option<&FaultRef>,
        what: &What,
    ) -> Option<Told> {
        let stream = (event.conduit, event.dir);
        if let Some(part) = what.release() {
            return Some(Told::PassedOn(
                self.released(stream, message, fault, part),
                0,
            ));
        }
        let requests = self.requests_of(stream, message, what);
        // Its sender left before it was passed on.
        if what.left() {
            return Some(Told::Excused(requests));
        }
        if let Some(by) = what.delay() {
            return Some(Told::PassedOn(requests, by.0));
        }
        if !what.misleads() {
            return None;
        }
        let (scope, dir) = (event.scope(), event.dir);
        if what.may_be_released() && self.held.len() < LIMIT {
            let held = Held {
                fault: fault.cloned(),
                scope,
                requests: requests.clone(),
            };
            self.held.insert((stream, message), held);
        } else if requests.is_empty() {
            self.mislead(scope, dir);
        }
        Some(Told::Excused(requests))
    }

    fn mislead(&mut self, scope: Scope, dir: Direction) {
        self.all_misled |= self.misled.len() >= LIMIT;
        if !self.all_misled {
            self.misled.insert((scope, dir));
        }
    }

    /// Whether a fault dropped, changed or still holds a message in this direction, other than a
    /// request: it may be why its receiver does not answer others.
    pub(super) fn has_misled(&self, scope: Scope, dir: Direction) -> bool {
        let holds = |((stream, _), held): (&(Stream, _), &Held)| {
            stream.1 == dir && held.scope == scope && held.requests.is_empty()
        };
        self.all_misled || self.misled.contains(&(scope, dir)) || self.held.iter().any(holds)
    }

    /// The requests that were in the message.
    fn requests_of(
        &self,
        (conduit, dir): Stream,
        message: Option<MessageNumber>,
        what: &What,
    ) -> Vec<Handle> {
        let latest = match message {
            Some(_) => self.latest.get(&(conduit, dir)),
            // The response waits, before any message of it: so do all that asked for it.
            None if matches!(what, What::Behind { .. }) => {
                self.latest.get(&(conduit, dir.opposite()))
            }
            None => None,
        };
        let latest = latest.filter(|latest| message.is_none() || latest.message == message);
        latest.map_or_else(Vec::new, |latest| latest.requests.clone())
    }

    /// The requests in messages that are passed on now.
    fn released(
        &mut self,
        stream: Stream,
        message: Option<MessageNumber>,
        fault: Option<&FaultRef>,
        part: ReleasedPart,
    ) -> Vec<Handle> {
        if part == ReleasedPart::One {
            let held = self.held.remove(&(stream, message));
            return held.map_or_else(Vec::new, |held| held.requests);
        }
        let of_it = |held: &Held| held.fault.is_none() || held.fault.as_ref() == fault;
        let held = self.take_held(stream, of_it).into_iter();
        held.flat_map(|held| held.requests).collect()
    }

    /// Removes held messages of a stream.
    fn take_held(&mut self, stream: Stream, which: impl Fn(&Held) -> bool) -> Vec<Held> {
        let of_it = self.held.range((stream, None)..);
        let of_it = of_it.take_while(|((known, _), _)| *known == stream);
        let of_it = of_it.filter(|(_, held)| which(held));
        let places: Vec<_> = of_it.map(|(place, _)| *place).collect();
        let held = places.iter().filter_map(|place| self.held.remove(place));
        held.collect()
    }
}

fn number(event: &Event) -> Option<MessageNumber> {
    match &event.body {
        EventBody::Message { origin, .. } => origin.number,
        _ => None,
    }
}
