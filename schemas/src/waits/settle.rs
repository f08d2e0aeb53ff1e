//! How requests cease to wait, and how faults make them go on waiting.

use super::wait::State;
use super::{ANSWERED, Change, Waits};
use crate::cassette::ends::{CLIENT_GONE, PEER_GONE, over};
use crate::event::{CloseReason, ConduitId, Event, Faulted, Let, Offset, SessionKey, SessionMark};

impl Waits {
    /// A fault did something.
    pub(super) fn faulted(&mut self, event: &Event, faulted: &Faulted) {
        let what = &faulted.effect.what;
        if let Some(goes) = what.release() {
            return self.released(event, faulted, goes);
        }
        if what.left() {
            return self.left(event.conduit);
        }
        let due = what
            .delay()
            .map(|time| Offset(event.at.0.saturating_add(time.0)));
        if !what.keeps_back() && due.is_none() {
            return;
        }
        let stream = (event.conduit, event.dir);
        let fresh = self.fresh.get(&stream);
        let message = fresh.and_then(|fresh| fresh.message);
        if faulted.message.is_some() && faulted.message != message {
            return;
        }
        for number in self.fresh.remove(&stream).unwrap_or_default().waits {
            let Some(wait) = self.known.get_mut(&number) else {
                continue;
            };
            wait.held = message;
            wait.fault = faulted.effect.fault.clone().or(wait.fault.take());
            let answered = wait.state == State::Fresh;
            match due {
                Some(due) if answered => {
                    wait.state = State::Until(due);
                    self.until.insert((due, number));
                }
                Some(_) => {}
                None => {
                    wait.kept = true;
                    if answered {
                        wait.state = State::Kept(event.conduit);
                    }
                    if !std::mem::replace(&mut wait.told, true) {
                        self.told.push_back(Change::Opened(wait.clone()));
                    }
                }
            }
            if answered {
                let key = wait.key.clone();
                self.by_key.entry(key).or_default().push_front(number);
            }
        }
    }

    /// What a fault held is passed on.
    fn released(&mut self, event: &Event, faulted: &Faulted, goes: Let) {
        let message = faulted.message.filter(|_| goes == Let::One);
        let fault = faulted.effect.fault.as_ref();
        let of_it = self.known.iter().filter(|(_, wait)| {
            wait.state == State::Kept(event.conduit)
                && wait.dir == event.dir.opposite()
                // What waited behind it has no fault of its own.
                && (wait.fault.is_none() || wait.fault.as_ref() == fault)
                && (message.is_none() || wait.held == message)
        });
        let numbers: Vec<u64> = of_it.map(|(number, _)| *number).collect();
        for number in numbers {
            self.settle(number, ANSWERED, event.at);
        }
    }

    /// The client of an exchange left while its answer was held.
    fn left(&mut self, conduit: ConduitId) {
        let kept = self.known.iter();
        let kept = kept.filter(|(_, wait)| wait.state == State::Kept(conduit));
        let numbers: Vec<u64> = kept.map(|(number, _)| *number).collect();
        for number in numbers {
            self.settle(number, CLIENT_GONE, self.now);
        }
    }

    /// Nothing more comes to the client on a conduit.
    pub(super) fn closed(&mut self, conduit: ConduitId, reason: CloseReason) {
        let Some(exchange) = self.exchanges.remove(&conduit) else {
            // A conversation on standard streams is over.
            let of_it = self.known.iter();
            let of_it =
                of_it.filter(|(_, wait)| wait.conduit == conduit && wait.state != State::Fresh);
            let numbers: Vec<u64> = of_it.map(|(number, _)| *number).collect();
            let how = self.ends.of(conduit);
            for number in numbers {
                self.settle(number, how, self.now);
            }
            return;
        };
        for number in exchange.asked {
            let open = self.known.get(&number);
            let Some(wait) = open.filter(|wait| wait.state == State::Open) else {
                continue;
            };
            if let Some(how) = over(wait.era, wait.scope, (reason, exchange.status)) {
                self.settle(number, how, self.now);
            }
        }
    }

    /// A session began or ended.
    pub(super) fn marked(&mut self, session: SessionKey, mark: &SessionMark) {
        if let SessionMark::Ended(why) = mark {
            let how = if why == "deleted" {
                CLIENT_GONE
            } else {
                PEER_GONE
            };
            self.ended(session, Some(how));
        }
    }

    /// Nobody answers in a session any more.
    pub(super) fn ended(&mut self, session: SessionKey, how: Option<&'static str>) {
        let of_it = self.known.iter();
        let of_it = of_it.filter(|(_, wait)| wait.session == session && wait.state != State::Fresh);
        let numbers: Vec<(u64, ConduitId)> = of_it
            .map(|(number, wait)| (*number, wait.conduit))
            .collect();
        for (number, conduit) in numbers {
            let how = how.unwrap_or_else(|| self.ends.of(conduit));
            self.settle(number, how, self.now);
        }
    }

    /// A request waits no longer.
    pub(super) fn settle(&mut self, number: u64, how: &'static str, at: Offset) {
        let Some(wait) = self.known.remove(&number) else {
            return;
        };
        self.unlist(&wait.key, number);
        if let State::Until(due) = wait.state {
            self.until.remove(&(due, number));
        }
        let long = at.since(wait.at) >= self.long;
        if wait.told || long || how != ANSWERED {
            self.told.push_back(Change::Closed { wait, how, at });
        }
    }

    /// A number waits under a key no longer.
    pub(super) fn unlist(&mut self, key: &[u8], number: u64) {
        let Some(numbers) = self.by_key.get_mut(key) else {
            return;
        };
        numbers.retain(|one| *one != number);
        if numbers.is_empty() {
            self.by_key.remove(key);
        }
    }
}
