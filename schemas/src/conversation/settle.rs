//! How exchanges end, and how faults resume them.

use super::Handle;
use super::exchange::{Exchange, State};
use super::fold::{Conversation, LIMIT};
use super::outcome::Outcome;
use crate::cassette::ends::over;
use crate::event::{
    CloseReason, ConduitId, Direction, Event, EventBody, FaultRef, Faulted, Finding, MessageNumber,
    Offset, ReleasedPart, SessionEnd, SessionKey, SessionMark, What,
};

/// The maximum number of HTTP exchanges that wait for a final event about them.
const CLOSING: usize = 64;
/// The maximum number of broken lines that are remembered.
const BROKEN: usize = 4_096;

impl<T: Default> Conversation<T> {
    /// Handles an event that is not a message and opens nothing.
    pub(super) fn beside_messages(&mut self, event: &Event) {
        match &event.body {
            EventBody::Faulted(faulted) => self.faulted(event, faulted),
            EventBody::Closed(reason) if event.dir == Direction::ToClient => {
                self.closed(event.conduit, *reason);
            }
            EventBody::Exited(_) => self.session_ended(event.session, None),
            EventBody::Session(SessionMark::Ended(why)) => {
                let outcome = if *why == SessionEnd::Deleted {
                    Outcome::ClientGone
                } else {
                    Outcome::PeerGone
                };
                self.session_ended(event.session, Some(outcome));
            }
            EventBody::Added(added) => {
                let ours = added.request_us.saturating_add(added.response_us);
                self.took(event.conduit, ours);
            }
            EventBody::Finding(finding) => self.found(finding),
            _ => {}
        }
    }

    /// Nothing more will come.
    pub fn finish(&mut self) {
        let mut streams: Vec<_> = self.fresh.keys().copied().collect();
        streams.sort_unstable();
        for stream in streams {
            self.settle_stream(stream);
        }
        for handle in self.handles(|_| true) {
            let exchange = self.get(handle);
            let conduit = exchange.map(|exchange| exchange.conduit);
            self.end(handle, self.left(conduit.unwrap_or_default()), self.now);
        }
    }

    /// A fault did something.
    fn faulted(&mut self, event: &Event, faulted: &Faulted) {
        let what = &faulted.effect.what;
        if let Some(goes) = what.release() {
            return self.released(event, faulted, goes);
        }
        if what.left() {
            let here = event.conduit;
            let kept = self.handles(
                |one| matches!(one.state, State::Kept(on) | State::Until(_, on) if on == here),
            );
            for handle in kept {
                self.end(handle, Outcome::ClientGone, self.now);
            }
            return;
        }
        if let (What::Cut { .. } | What::Ended, Some(fault)) = (what, &faulted.effect.fault) {
            self.broke(event.conduit, fault);
        }
        let stream = (event.conduit, event.dir);
        let Some(fresh) = self.fresh.get(&stream) else {
            self.response_waits(event, faulted);
            return;
        };
        let message = fresh.message;
        if faulted.message.is_some() && faulted.message != message {
            return;
        }
        let due = what
            .delay()
            .map(|time| Offset(event.at.0.saturating_add(time.0)));
        if !what.keeps_back() && due.is_none() {
            for handle in fresh.about.iter().copied() {
                if let Some(exchange) = self.exchanges.get_mut(handle) {
                    // What was not passed on names no fault, although one may be why.
                    exchange.fault = faulted.effect.fault.clone().or(exchange.fault.take());
                    exchange.instead = what.in_place().or(exchange.instead);
                }
            }
            return;
        }
        for handle in self.fresh.remove(&stream).unwrap_or_default().about {
            self.keep(handle, event, faulted, message, due);
        }
    }

    /// A fault cut a line, or ended the process at its end: no request on it is answered.
    fn broke(&mut self, conduit: ConduitId, fault: &FaultRef) {
        let is_line = !self.carriers.contains_key(&conduit);
        if is_line && self.broken.len() < BROKEN {
            self.broken.entry(conduit).or_insert_with(|| fault.clone());
        }
    }

    /// The response of an HTTP exchange waits for what a fault holds, before any message of it.
    fn response_waits(&mut self, event: &Event, faulted: &Faulted) {
        let waits = matches!(faulted.effect.what, What::Behind { .. });
        let waits = waits && event.dir == Direction::ToClient;
        if let Some(carrier) = self.carriers.get(&event.conduit).filter(|_| waits) {
            for handle in carrier.asked.clone() {
                self.keep(handle, event, faulted, None, None);
            }
        }
    }

    /// A fault holds a request or its answer back, or delays it until a time.
    fn keep(
        &mut self,
        handle: Handle,
        event: &Event,
        faulted: &Faulted,
        message: Option<MessageNumber>,
        due: Option<Offset>,
    ) {
        let Some(exchange) = self.get_mut(handle) else {
            return;
        };
        exchange.held = message;
        exchange.fault = faulted.effect.fault.clone().or(exchange.fault.take());
        exchange.kept |= due.is_none();
        if exchange.state == State::Fresh {
            let conduit = event.conduit;
            let state = due.map_or(State::Kept(conduit), |due| State::Until(due, conduit));
            self.enter(handle, state);
            // Its sender may still give it up.
            self.exchanges.restore(handle);
        }
        if due.is_none() {
            self.kept.push_back(handle);
            // Not everybody takes them.
            if self.kept.len() > LIMIT {
                self.kept.pop_front();
            }
        }
    }

    /// Messages that a fault held are forwarded.
    fn released(&mut self, event: &Event, faulted: &Faulted, goes: ReleasedPart) {
        let message = faulted.message.filter(|_| goes == ReleasedPart::One);
        let fault = faulted.effect.fault.as_ref();
        let of_it = self.handles(|one| {
            let is_held = match one.state {
                State::Kept(conduit) => {
                    conduit == event.conduit && (message.is_none() || one.held == message)
                }
                // Sooner than it was due.
                State::Until(_, conduit) => conduit == event.conduit && one.held == faulted.message,
                State::Fresh | State::GivenUp | State::Open => false,
            };
            is_held
                && one.dir == event.dir.opposite()
                // A message that only waited behind it has no fault itself.
                && (one.fault.is_none() || one.fault.as_ref() == fault)
        });
        for handle in of_it {
            self.answered(handle, event.at);
        }
    }

    /// A conduit is closed for messages to the client.
    fn closed(&mut self, conduit: ConduitId, reason: CloseReason) {
        let Some(carrier) = self.carriers.remove(&conduit) else {
            // A conversation on standard streams is over.
            let of_it = self.handles(|one| one.conduit == conduit && one.state != State::Fresh);
            for handle in of_it {
                self.end(handle, self.left(conduit), self.now);
            }
            return;
        };
        for handle in carrier.asked.iter().copied() {
            let Some(exchange) = self.exchanges.get_mut(handle) else {
                continue;
            };
            exchange.status = carrier.status;
            if exchange.state != State::Open {
                continue;
            }
            if let Some(why) = over(exchange.era, exchange.scope, reason, carrier.status) {
                self.end(handle, why.into(), self.now);
            }
        }
        self.closing.push_back((conduit, carrier.asked));
        if self.closing.len() > CLOSING {
            self.closing.pop_front();
        }
    }

    /// How long the recorder held an HTTP exchange, in microseconds.
    fn took(&mut self, conduit: ConduitId, ours: u64) {
        // It is reported after the end of the answer, or before its body.
        let asked = match self.carriers.get(&conduit) {
            Some(carrier) => &carrier.asked,
            // Of the exchanges that ended, it is nearly always the last.
            None => match self.closing.iter().rfind(|(one, _)| *one == conduit) {
                Some((_, asked)) => asked,
                None => return,
            },
        };
        for handle in asked {
            if let Some(exchange) = self.exchanges.get_mut(*handle) {
                exchange.ours_us = Some(ours);
            }
        }
    }

    /// No more answers come in a session.
    fn session_ended(&mut self, session: SessionKey, outcome: Option<Outcome>) {
        for handle in self.handles(|one| one.session == session && one.state != State::Fresh) {
            let conduit = self.get(handle).map(|one| one.conduit);
            let left = self.left(conduit.unwrap_or_default());
            self.end(handle, outcome.unwrap_or(left), self.now);
        }
    }

    /// A judge found something about messages of exchanges that are not over.
    fn found(&mut self, finding: &Finding) {
        let evidence = |seq: u64| finding.evidence.iter().any(|place| place.seq == seq);
        let of_it = self.handles(|one| {
            let answer = one.answer.as_ref();
            evidence(one.seq) || answer.is_some_and(|answer| evidence(answer.seq))
        });
        for handle in of_it {
            if let Some(exchange) = self.exchanges.get_mut(handle) {
                exchange.found(&finding.code);
            }
        }
    }

    fn handles(&self, which: impl Fn(&Exchange<T>) -> bool) -> Vec<Handle> {
        let all = self.iter().filter(|(_, one)| which(one));
        all.map(|(handle, _)| handle).collect()
    }

    /// How requests on a conduit end without an answer, as far as its end shows.
    fn left(&self, conduit: ConduitId) -> Outcome {
        self.ends.of(conduit).into()
    }
}
