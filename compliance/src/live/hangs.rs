//! Requests that have had no answer for too long.

use std::collections::{HashMap, VecDeque};

use tapewright_schemas::conversation::{Handle, Pairing};
use tapewright_schemas::envelope::{Envelope, Kind, RequestId, for_each_message};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Finding, FindingStatus, Offset, Payload, Place,
    SessionKey, SessionMark,
};

use crate::finding::Side;
use crate::id::Key;
use crate::method::Method;
use crate::value::{Value, quoted};

/// Follows requests until they are answered, given up, or cannot be answered any more.
#[derive(Debug)]
pub(super) struct Hangs {
    after: Offset,
    waiting: Pairing<Waiting>,
    // By age; those that were answered meanwhile linger until their time has come.
    order: VecDeque<Handle>,
    // Over HTTP: the requests of the client whose exchange is under way.
    exchanges: HashMap<ConduitId, Vec<Handle>>,
    // Of the recording so far: a recorder's clock may tick behind it.
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

/// How many requests may linger.
const LINGER: usize = 131_072;

impl Hangs {
    pub(super) fn new(after: Offset) -> Self {
        Self {
            after,
            waiting: Pairing::without_memory(),
            order: VecDeque::new(),
            exchanges: HashMap::new(),
            now: Offset::default(),
        }
    }

    /// Takes the next event; `message` is its message taken apart.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        told: &mut VecDeque<Event>,
    ) {
        self.tick(event.at, told);
        match &event.body {
            EventBody::Message {
                payload: Payload::Whole(bytes),
                ..
            } => match message {
                Some(batch) if matches!(batch.kind, Kind::Batch { .. }) => {
                    for_each_message(bytes, |one| {
                        self.message(event, &Envelope::of_json(one), told);
                    });
                }
                Some(message) => self.message(event, message, told),
                None => {}
            },
            EventBody::Closed(_) if event.dir == Direction::ToClient => {
                // The exchange is over: whatever HTTP answered, nothing hangs any more.
                for one in self.exchanges.remove(&event.conduit).unwrap_or_default() {
                    self.waiting.remove(one);
                }
            }
            EventBody::Exited(_) | EventBody::Session(SessionMark::Ended(_)) => {
                self.waiting.forget(event.scope());
            }
            _ => {}
        }
    }

    /// It is `now`: names what has waited too long.
    pub(super) fn tick(&mut self, now: Offset, told: &mut VecDeque<Event>) {
        self.now = self.now.max(now);
        while let Some(first) = self.order.front() {
            if let Some(one) = self.waiting.get_mut(*first) {
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

    fn message(&mut self, event: &Event, message: &Envelope<'_>, told: &mut VecDeque<Event>) {
        match &message.kind {
            Kind::Request { id, method, .. }
                if id.pairs() && Method::named(method) != Method::SubscriptionsListen =>
            {
                self.ask(event, id, method);
            }
            Kind::Response { id, .. } if id.pairs() => {
                let dir = event.dir.opposite();
                let asked = self.waiting.find(event.scope(), dir, Key::by_value(id));
                self.settle(event, asked, "was answered", told);
            }
            Kind::Notification { method, params } if Method::named(method) == Method::Cancelled => {
                let id = params.and_then(|params| Value(params).get("requestId"));
                if let Some(id) = id {
                    let key = Key::by_value_of(id.0);
                    let asked = self.waiting.cancel(event.scope(), event.dir, key);
                    self.settle(event, asked, "was given up", told);
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self, event: &Event, id: &RequestId<'_>, method: &str) {
        let one = Waiting {
            seq: event.seq,
            at: event.at,
            session: event.session,
            dir: event.dir,
            what: format!("{}, id {},", quoted(method), quoted(id.text())),
            told: false,
        };
        let key = Key::by_value(id);
        let asked = self.waiting.ask(event.scope(), event.dir, key, one);
        if self.order.len() > LINGER {
            let waiting = &self.waiting;
            self.order.retain(|one| waiting.get(*one).is_some());
        }
        self.order.push_back(asked.handle);
        if event.conduit.0 != 0 && event.dir == Direction::ToServer {
            let exchange = self.exchanges.entry(event.conduit).or_default();
            exchange.push(asked.handle);
        }
    }

    /// A request waits no longer.
    fn settle(
        &mut self,
        event: &Event,
        asked: Option<Handle>,
        how: &str,
        told: &mut VecDeque<Event>,
    ) {
        let Some(one) = asked.and_then(|asked| self.waiting.remove(asked)) else {
            return;
        };
        if one.told {
            let what = format!(
                "{} {how} after {}",
                one.what,
                seconds(event.at.since(one.at))
            );
            let finding = finding(one.dir, FindingStatus::Closed, what, &[event.seq, one.seq]);
            told.push_back(tell(one.session, event.at, finding));
        }
    }
}

fn finding(dir: Direction, status: FindingStatus, detail: String, evidence: &[u64]) -> Finding {
    let place = |seq: &u64| Place {
        seq: *seq,
        pointer: String::new(),
    };
    // Who owes the answer.
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
