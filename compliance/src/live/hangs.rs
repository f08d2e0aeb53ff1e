//! Requests that have had no answer for too long.

use std::collections::{HashMap, VecDeque};

use tapewright_schemas::envelope::{Envelope, Kind, for_each_message};
use tapewright_schemas::event::{
    ConduitId, Direction, Event, EventBody, Finding, Offset, Payload, Place, SessionKey,
    SessionMark,
};

use crate::finding::Side;
use crate::id::Key;
use crate::method::Method;
use crate::value::{Value, quoted};

/// Follows requests until they are answered, given up, or cannot be answered any more.
#[derive(Debug)]
pub(super) struct Hangs {
    after: Offset,
    waiting: HashMap<Ask, Waiting>,
    // By age; those that were answered meanwhile linger until their time has come.
    order: VecDeque<(Ask, u64)>,
    // Over HTTP: the requests of the client whose exchange is under way.
    exchanges: HashMap<ConduitId, Vec<Ask>>,
    // Of the recording so far: a recorder's clock may tick behind it.
    now: Offset,
}

/// Names a request. In the lane of what belongs to no session an id means nothing beyond
/// its exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ask {
    session: SessionKey,
    conduit: ConduitId,
    dir: Direction,
    id: Key,
}

#[derive(Debug)]
struct Waiting {
    seq: u64,
    at: Offset,
    what: String,
    told: bool,
}

/// How many requests are followed at once; further ones are not.
const LIMIT: usize = 65_536;

impl Hangs {
    pub(super) fn new(after: Offset) -> Self {
        Self {
            after,
            waiting: HashMap::new(),
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
                for ask in self.exchanges.remove(&event.conduit).unwrap_or_default() {
                    self.waiting.remove(&ask);
                }
            }
            EventBody::Exited(_) | EventBody::Session(SessionMark::Ended(_)) => {
                self.waiting.retain(|ask, _| ask.session != event.session);
            }
            _ => {}
        }
    }

    /// It is `now`: names what has waited too long.
    pub(super) fn tick(&mut self, now: Offset, told: &mut VecDeque<Event>) {
        self.now = self.now.max(now);
        while let Some((ask, seq)) = self.order.front().copied() {
            let known = self.waiting.get_mut(&ask).filter(|one| one.seq == seq);
            if let Some(one) = known {
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
                let finding = finding(ask, "open", what, &[seq]);
                told.push_back(tell(ask, self.now, finding));
            }
            self.order.pop_front();
        }
    }

    fn message(&mut self, event: &Event, message: &Envelope<'_>, told: &mut VecDeque<Event>) {
        match &message.kind {
            Kind::Request { id, method, .. } if id.pairs() => {
                let lasts = Method::named(method) == Method::SubscriptionsListen;
                if lasts || self.waiting.len() >= LIMIT {
                    return;
                }
                let ask = ask(event, event.dir, Key::of(id));
                let mut id_text = Vec::new();
                id.write_key(&mut id_text);
                let id_text = String::from_utf8_lossy(id_text.get(1..).unwrap_or_default());
                let one = Waiting {
                    seq: event.seq,
                    at: event.at,
                    what: format!("{}, id {},", quoted(method), quoted(&id_text)),
                    told: false,
                };
                if self.waiting.insert(ask, one).is_none() && self.order.len() > 2 * LIMIT {
                    let waiting = &self.waiting;
                    let waits = |(ask, seq): &(Ask, u64)| {
                        waiting.get(ask).is_some_and(|one| one.seq == *seq)
                    };
                    self.order.retain(waits);
                }
                self.order.push_back((ask, event.seq));
                if event.conduit.0 != 0 && event.dir == Direction::ToServer {
                    self.exchanges.entry(event.conduit).or_default().push(ask);
                }
            }
            Kind::Response { id, .. } if id.pairs() => {
                let ask = ask(event, event.dir.opposite(), Key::of(id));
                self.settle(event, ask, "was answered", told);
            }
            Kind::Notification { method, params } if Method::named(method) == Method::Cancelled => {
                let id = params.and_then(|params| Value(params).get("requestId"));
                if let Some(id) = id {
                    let ask = ask(event, event.dir, Key::of_source(id.0));
                    self.settle(event, ask, "was given up", told);
                }
            }
            _ => {}
        }
    }

    /// A request waits no longer.
    fn settle(&mut self, event: &Event, ask: Ask, how: &str, told: &mut VecDeque<Event>) {
        let Some(one) = self.waiting.remove(&ask) else {
            return;
        };
        if one.told {
            let what = format!(
                "{} {how} after {}",
                one.what,
                seconds(event.at.since(one.at))
            );
            let finding = finding(ask, "closed", what, &[event.seq, one.seq]);
            told.push_back(tell(ask, event.at, finding));
        }
    }
}

fn ask(event: &Event, dir: Direction, id: Key) -> Ask {
    Ask {
        session: event.session,
        conduit: match event.session {
            SessionKey(0) => event.conduit,
            _ => ConduitId(0),
        },
        dir,
        id,
    }
}

fn finding(ask: Ask, status: &str, detail: String, evidence: &[u64]) -> Finding {
    let place = |seq: &u64| Place {
        seq: *seq,
        pointer: String::new(),
    };
    Finding {
        code: Finding::HANG.to_owned(),
        status: status.to_owned(),
        // Who owes the answer.
        side: Side::sender(ask.dir.opposite()).name().to_owned(),
        detail,
        evidence: evidence.iter().map(place).collect(),
        ..Finding::default()
    }
}

fn tell(ask: Ask, at: Offset, finding: Finding) -> Event {
    let body = EventBody::Finding(Box::new(finding));
    let mut event = Event::new(at, Direction::ToClient, body);
    event.session = ask.session;
    event
}

fn seconds(time: Offset) -> String {
    format!("{:.1} s", time.millis() / 1_000.0)
}
