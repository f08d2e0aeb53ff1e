//! Requests that have been pending for too long.

use std::collections::VecDeque;

use tapewright_schemas::conversation::{Conversation, Does, Exchange, Handle, PerExchange, Step};
use tapewright_schemas::envelope::{Envelope, Kind};
use tapewright_schemas::event::{
    Direction, Event, EventBody, Finding, FindingStatus, Offset, Place, SessionKey,
};

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
    // The time of the recording so far: a recorder's clock may lag behind it.
    now: Offset,
}

#[derive(Debug)]
struct Waiting {
    seq: u64,
    at: Offset,
    session: SessionKey,
    dir: Direction,
    what: String,
    told: bool,
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
        if self.order.len() > LINGER {
            let conversation = &self.conversation;
            self.order.retain(|one| conversation.get(*one).is_some());
        }
        let (waiting, order) = (&mut self.waiting, &mut self.order);
        self.conversation
            .observe(event, message, |step| match (step.what, step.handle) {
                (Does::Asks, Some(handle)) => {
                    if let Some(one) = Waiting::of(event, &step) {
                        waiting.insert(handle, one);
                        order.push_back(handle);
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

    /// Sets the time to `now`, and reports requests that have waited too long.
    pub(super) fn tick(&mut self, now: Offset, told: &mut VecDeque<Event>) {
        self.now = self.now.max(now);
        while let Some(first) = self.order.front().copied() {
            let waits = self.conversation.get(first).is_some();
            if let Some(one) = self.waiting.get_mut(first).filter(|_| waits) {
                if self.now.since(one.at) < self.after {
                    return;
                }
                one.told = true;
                let what = format!(
                    "{} has had no answer for {}, since {}",
                    one.what,
                    seconds(self.now.since(one.at)),
                    seconds(one.at),
                );
                let finding = finding(one.dir, FindingStatus::Open, what, &[one.seq]);
                told.push_back(tell(one.session, self.now, finding));
            }
            self.order.pop_front();
        }
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
            session: event.session,
            dir: event.dir,
            what: format!("{}, id {},", quoted(method), quoted(id.text())),
            told: false,
        })
    }
}

/// The event for a request that is no longer waiting, if it was reported as hanging.
fn over(event: &Event, one: Option<Waiting>, how: &str) -> Option<Event> {
    let one = one.filter(|one| one.told)?;
    let what = format!(
        "{} {how} after {}",
        one.what,
        seconds(event.at.since(one.at))
    );
    let finding = finding(one.dir, FindingStatus::Closed, what, &[event.seq, one.seq]);
    Some(tell(one.session, event.at, finding))
}

fn finding(dir: Direction, status: FindingStatus, detail: String, evidence: &[u64]) -> Finding {
    let place = |seq: &u64| Place {
        seq: *seq,
        pointer: String::new(),
    };
    // The side that should answer.
    let side = Side::sender(dir.opposite());
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
