//! Requests that were answered by asking for input, until they are asked again.

use std::collections::HashMap;

use tapewright_schemas::event::{ConduitId, SessionKey};

use super::Recorded;
use super::exchange::ObservedExchange;
use crate::observation::Reply;
use crate::rounds;

/// How many are waited for at once.
const MOST: usize = 1_024;

/// What is waited for, by its session and its question. Of the same question asked twice at once the last is known.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    waiting: HashMap<(SessionKey, String), ObservedExchange>,
}

impl Rounds {
    /// Everything that was never asked again, in the order of the requests.
    pub(super) fn drain(&mut self) -> Vec<ObservedExchange> {
        let mut all: Vec<_> = self.waiting.drain().map(|(_, exchange)| exchange).collect();
        all.sort_by_key(|exchange| exchange.at);
        all
    }

    /// Somebody tampered with what was answered.
    pub(super) fn tampered(&mut self, session: SessionKey, key: &str) {
        if let Some(exchange) = self.waiting.get_mut(&(session, key.to_owned())) {
            exchange.tampered = true;
        }
    }
}

impl Recorded<'_> {
    /// Whether an answer asks for input; then its request waits for the one that gives it.
    pub(super) fn asks_for_input(
        &mut self,
        conduit: ConduitId,
        exchange: ObservedExchange,
        reply: &Reply,
    ) -> Option<ObservedExchange> {
        let Some(result) = rounds::required(&exchange.method, reply) else {
            return Some(exchange);
        };
        let mut exchange = exchange;
        exchange.take(rounds::asked(result, exchange.rounds));
        exchange.rounds += 1;
        let params = exchange.params.as_ref();
        let key = rounds::key(&exchange.method, params, rounds::state(result));
        self.conduits.remember(conduit, key.clone());
        let key = (exchange.session, key);
        let over = if self.rounds.waiting.len() < MOST {
            self.rounds.waiting.insert(key, exchange)
        } else {
            Some(exchange)
        };
        if let Some(over) = over {
            self.finish_exchange(over, None, true);
        }
        None
    }

    /// A request that gives what was asked for is the one before it, gone on.
    pub(super) fn goes_on(&mut self, again: &mut ObservedExchange) {
        let params = again.params.as_ref();
        if !rounds::is_again(&again.method, params) || again.about.is_empty() {
            return;
        }
        let state = params.and_then(rounds::state);
        let key = (again.session, rounds::key(&again.method, params, state));
        let Some(before) = self.rounds.waiting.remove(&key) else {
            return;
        };
        again.about = before.about;
        again.listens = before.listens;
        again.between = before.between;
        again.room = before.room;
        again.rounds = before.rounds;
        again.tampered |= before.tampered;
        again.gaps = before.gaps;
        let params = std::mem::replace(&mut again.params, before.params);
        if let Some(params) = params {
            again.take(rounds::answered(&params, again.rounds.saturating_sub(1)));
        }
    }
}
