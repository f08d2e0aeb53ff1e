//! Requests that were answered by asking for input, until they are repeated.

use std::collections::HashMap;

use tapewright_schemas::event::{Event, SessionKey};
use tapewright_schemas::order::Order as _;

use super::Recorded;
use super::exchange::ObservedExchange;
use crate::observation::{Answer, Observation, Reply, Sent};
use crate::plan::AssertionIndex;
use crate::rounds;

/// The maximum number that are awaited at once.
const MOST: usize = 1_024;

/// The awaited requests, by their session and question. If the same question is asked twice at
/// once, only the last one is kept.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    waiting: HashMap<(SessionKey, String), ObservedExchange>,
}

impl Rounds {
    /// The requests that were never repeated, in order.
    pub(super) fn drain(&mut self) -> Vec<ObservedExchange> {
        let mut all: Vec<_> = self.waiting.drain().map(|(_, exchange)| exchange).collect();
        all.order_by_key(|exchange| exchange.at);
        all
    }

    /// The answer was tampered with.
    pub(super) fn tampered(&mut self, session: SessionKey, key: &str) {
        if let Some(exchange) = self.waiting.get_mut(&(session, key.to_owned())) {
            exchange.tampered = true;
        }
    }
}

impl Recorded<'_> {
    /// Whether an answer asks for input; then its request waits for the one that provides it.
    pub(super) fn asks_for_input(
        &mut self,
        event: &Event,
        exchange: ObservedExchange,
        reply: &Reply,
    ) -> Option<ObservedExchange> {
        let Some(result) = rounds::required(&exchange.method, reply) else {
            return Some(exchange);
        };
        let mut exchange = exchange;
        self.is_enough(event, &mut exchange, reply);
        exchange.take(rounds::asked(result, exchange.rounds));
        exchange.rounds += 1;
        let params = exchange.parameters();
        let key = rounds::key(&exchange.method, params.as_ref(), rounds::state(result));
        self.conduits.remember(event.conduit, key.clone());
        let key = (exchange.session, key);
        let over = if self.rounds.waiting.len() < MOST {
            self.rounds.waiting.insert(key, exchange)
        } else {
            Some(exchange)
        };
        if let Some(over) = over {
            self.over(over, None, false, false);
        }
        None
    }

    /// For assertions that compare answers, or count them, an answer that asks for input is like
    /// any other: a client that sends the same request several times at once provides no input.
    fn is_enough(&mut self, event: &Event, exchange: &mut ObservedExchange, reply: &Reply) {
        let compares =
            |at: AssertionIndex| self.plan.assertion(at).is_some_and(|one| one.wants() > 1);
        let tested = exchange.about.tested.iter().copied();
        let (now, later): (Vec<_>, Vec<_>) = tested.partition(|(at, _)| compares(*at));
        exchange.about = self.memory.about(self.plan, later);
        for (at, _) in now {
            let seen = Observation {
                transport: exchange.transport,
                sent: Sent {
                    method: Some(exchange.method.to_string()),
                    params: exchange.parameters(),
                },
                answers: vec![Answer {
                    reply: reply.clone(),
                    seq: Some(event.seq),
                    ..Answer::default()
                }],
                chosen: self.chooses(at),
                ..Observation::default()
            };
            self.decide(at, &seen);
        }
    }

    /// A request that provides the requested input continues the one before it.
    pub(super) fn goes_on(&mut self, again: &mut ObservedExchange) {
        let params = again.parameters();
        let state = params.as_ref().and_then(rounds::state);
        let key = rounds::key(&again.method, params.as_ref(), state);
        let Some(before) = self.rounds.waiting.remove(&(again.session, key)) else {
            return;
        };
        again.about = before.about;
        again.listens = before.listens;
        again.between = before.between;
        again.room = before.room;
        again.rounds = before.rounds;
        again.tampered |= before.tampered;
        again.gaps = before.gaps;
        again.params = before.params;
        again.token = before.token;
        if let Some(params) = params {
            again.take(rounds::answered(&params, again.rounds.saturating_sub(1)));
        }
    }
}
