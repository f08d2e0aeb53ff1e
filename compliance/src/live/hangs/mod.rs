//! Requests that have been pending for too long.
//!
//! The time counts from when the peer that should answer got the request: what a fault drops,
//! changes or holds is not waited for.

mod faults;

use std::collections::{BTreeSet, VecDeque};

use tapewright_schemas::conversation::{Conversation, Does, Exchange, Handle, PerExchange, Step};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{
    Direction, Event, EventBody, Faulted, Finding, FindingStatus, Offset, Place, Scope, SessionKey,
};

use self::faults::{Faults, Told};
use crate::finding::Side;
use crate::value::quoted;

/// Follows requests until they are answered, given up, or cannot be answered any more.
#[derive(Debug)]
pub(super) struct Hangs {
    after: Offset,
    conversation: Conversation<()>,
    // Those that wait for an answer.
    waiting: PerExchange<Waiting>,
    // By age; those that were answered meanwhile linger until their time is over.
    order: VecDeque<Handle>,
    // Those that a fault has passed on later, by when.
    later: BTreeSet<(Offset, Handle)>,
    faults: Faults,
    // The time of the recording so far: a recorder's clock may lag behind it.
    now: Offset,
}

#[derive(Debug)]
struct Waiting {
    seq: u64,
    at: Offset,
    // When its receiver got it; `None` if a fault keeps that from happening.
    got: Option<Offset>,
    session: SessionKey,
    scope: Scope,
    dir: Direction,
    what: String,
    // Who was blamed, if it was reported.
    told: Option<Side>,
}

/// The maximum number of requests that may linger.
const LINGER: usize = 131_072;

impl Hangs {
    pub(super) fn new(after: Offset) -> Self {
        Self {
            after,
            conversation: Conversation::of_handles(),
            waiting: PerExchange::default(),
            order: VecDeque::new(),
            later: BTreeSet::new(),
            faults: Faults::default(),
            now: Offset::default(),
        }
    }

    /// Handles the next event; `message` is its parsed message.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        told: &mut VecDeque<Event>,
    ) {
        self.tick(event.at, told);
        match &event.body {
            EventBody::Faulted(faulted) => return self.faulted(event, faulted),
            EventBody::Closed(_) if event.dir == Direction::ToClient => {
                self.faults.closed(event.conduit);
            }
            _ => {}
        }
        if self.order.len() > LINGER {
            let conversation = &self.conversation;
            self.order.retain(|one| conversation.get(*one).is_some());
        }
        if self.later.len() > LINGER {
            let conversation = &self.conversation;
            self.later
                .retain(|(_, one)| conversation.get(*one).is_some());
        }
        let (waiting, order, faults) = (&mut self.waiting, &mut self.order, &mut self.faults);
        self.conversation
            .observe(event, message, |step| match (step.what, step.handle) {
                (Does::Asks, Some(handle)) => {
                    if let Some(one) = Waiting::of(event, &step) {
                        waiting.insert(handle, one);
                        order.push_back(handle);
                        faults.asked(event, handle);
                    }
                }
                (Does::Answers, Some(handle)) => {
                    told.extend(over(event, waiting.remove(handle), "was answered"));
                }
                (Does::Cancels, Some(handle)) => {
                    told.extend(over(event, waiting.remove(handle), "was given up"));
                }
                // Its exchange ended earlier: nothing hung any more.
                (Does::Late, Some(handle)) => drop(waiting.remove(handle)),
                _ => {}
            });
    }

    /// A fault did something to a message.
    fn faulted(&mut self, event: &Event, faulted: &Faulted) {
        let (message, effect) = (faulted.message, &faulted.effect);
        let fault = effect.fault.as_ref();
        match self.faults.observe(event, message, fault, &effect.what) {
            Some(Told::Excused(requests)) => {
                for handle in requests {
                    if let Some(one) = self.waiting.get_mut(handle) {
                        one.got = None;
                    }
                }
            }
            Some(Told::PassedOn(requests, by)) => {
                let got = event.at.plus(Offset(by));
                for handle in requests {
                    if let Some(one) = self.waiting.get_mut(handle) {
                        one.got = Some(got);
                        self.later.insert((got, handle));
                    }
                }
            }
            None => {}
        }
    }

    /// Sets the time to `now`, and reports requests that have waited too long.
    pub(super) fn tick(&mut self, now: Offset, told: &mut VecDeque<Event>) {
        self.now = self.now.max(now);
        while let Some(first) = self.order.front().copied() {
            let sent = self.waiting.get(first).map(|one| one.at);
            if sent.is_some_and(|at| self.is_young(first, at)) {
                break;
            }
            self.order.pop_front();
            self.tell(first, sent, told);
        }
        while let Some((got, first)) = self.later.first().copied() {
            if self.is_young(first, got) {
                break;
            }
            self.later.pop_first();
            self.tell(first, Some(got), told);
        }
    }

    /// Whether a request is not over, and has not waited for too long.
    fn is_young(&self, handle: Handle, got: Offset) -> bool {
        self.conversation.get(handle).is_some() && self.now.since(got) < self.after
    }

    /// Reports a request, if its receiver got it at this time and it is not over.
    fn tell(&mut self, handle: Handle, got: Option<Offset>, told: &mut VecDeque<Event>) {
        if self.conversation.get(handle).is_none() {
            return;
        }
        let one = self.waiting.get_mut(handle);
        let Some((one, got)) = one.filter(|one| one.got == got).zip(got) else {
            return;
        };
        // The side that should answer.
        let side = if self.faults.has_misled(one.scope, one.dir) {
            Side::Recorder
        } else {
            Side::sender(one.dir.opposite())
        };
        one.told = Some(side);
        let what = format!(
            "{} has had no answer for {}, since {}",
            one.what,
            seconds(self.now.since(got)),
            seconds(got),
        );
        let finding = finding(side, FindingStatus::Open, what, &[one.seq]);
        told.push_back(tell(one.session, self.now, finding));
    }
}

impl Waiting {
    /// A request to which an answer is due.
    fn of(event: &Event, step: &Step<'_, ()>) -> Option<Self> {
        let Kind::Request { id, method, .. } = &step.envelope.kind else {
            return None;
        };
        step.exchange.filter(|one| Exchange::is_owed(one))?;
        Some(Self {
            seq: event.seq,
            at: event.at,
            got: Some(event.at),
            session: event.session,
            scope: event.scope(),
            dir: event.dir,
            what: format!("{}, id {},", quoted(method), quoted(id.text())),
            told: None,
        })
    }
}

/// The event for a request that is no longer waiting, if it was reported as hanging.
fn over(event: &Event, one: Option<Waiting>, how: &str) -> Option<Event> {
    let one = one?;
    let side = one.told?;
    let waited = event.at.since(one.got.unwrap_or(one.at));
    let what = format!("{} {how} after {}", one.what, seconds(waited));
    let finding = finding(side, FindingStatus::Closed, what, &[event.seq, one.seq]);
    Some(tell(one.session, event.at, finding))
}

fn finding(side: Side, status: FindingStatus, detail: String, evidence: &[u64]) -> Finding {
    let place = |seq: &u64| Place {
        seq: *seq,
        pointer: String::new(),
    };
    Finding {
        evidence: evidence.iter().map(place).collect(),
        ..Finding::new(Finding::HANG, status, side, detail)
    }
}

fn tell(session: SessionKey, at: Offset, finding: Finding) -> Event {
    let body = EventBody::Finding(Box::new(finding));
    let mut event = Event::new(at, Direction::ToClient, body);
    event.session = session;
    event
}

fn seconds(time: Offset) -> String {
    format!("{:.1} s", time.millis() / 1_000.0)
}
