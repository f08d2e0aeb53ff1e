//! What messages do to requests, without the outcome of exchanges.

use std::collections::VecDeque;

use super::fold::GIVEN_UP;
use super::{Answer, Handle, IdKey, Pairing, is_about_noise};
use crate::envelope::{Envelope, Kind, RequestId};
use crate::event::{Direction, Scope};
use crate::json;

/// Reports the same as a [`Conversation`](super::Conversation) of handles, for code that only sees
/// messages, compares ids by their value, and follows tokens itself. It keeps no exchanges.
///
/// # Bounded memory
///
/// Like a `Conversation`: 65,536 requests in flight, and the last 4,096 of those that were
/// cancelled.
#[derive(Debug)]
pub struct MessagePairs {
    requests: Pairing<()>,
    // Those that were cancelled, by when they were.
    given_up: VecDeque<Handle>,
}

/// How one message relates to a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// The request that it opens, answers or cancels.
    pub handle: Option<Handle>,
    /// For a request: the first request in flight with its id, preferring one that was not given
    /// up.
    pub first: Option<Handle>,
    /// Its id was used by an earlier request: for a request, before this one; for anything else, by
    /// a request that is over.
    pub again: bool,
    /// The request that it refers to may have been forgotten.
    pub forgotten: bool,
    /// The request that was forgotten for this one.
    pub evicted: Option<Handle>,
}

impl Default for MessagePairs {
    fn default() -> Self {
        Self {
            requests: Pairing::default().by_value().without_latest(),
            given_up: VecDeque::new(),
        }
    }
}

impl MessagePairs {
    /// Handles the next message, which is not a batch; `key` is its id [by value](IdKey::by_value).
    pub fn observe(
        &mut self,
        scope: Scope,
        dir: Direction,
        message: &Envelope<'_>,
        key: IdKey,
    ) -> Pair {
        match &message.kind {
            Kind::Request { .. } => self.ask(scope, dir, key),
            Kind::Response { id, error, .. } => self.answer(scope, dir, id, key, *error),
            Kind::Notification { method, params } if method == CANCELLED => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                id.map_or_else(Pair::default, |id| self.cancel(scope, dir, id))
            }
            _ => Pair::default(),
        }
    }

    /// Takes a request whose id is one more than the last integer that its side used, if [`observe`](Self::observe) would
    /// report nothing but its handle. Otherwise it changes nothing.
    pub fn ask_next(&mut self, scope: Scope, dir: Direction, id: i64) -> Option<Handle> {
        self.requests.ask_next(scope, dir, id)
    }

    /// Takes a response, if its id is that of one request only, which `expected` accepts: [`observe`](Self::observe) would
    /// report nothing but that request. Otherwise it changes nothing.
    pub fn answer_if(
        &mut self,
        scope: Scope,
        dir: Direction,
        id: i64,
        expected: impl FnOnce(Handle) -> bool,
    ) -> Option<Handle> {
        self.requests.answer_if(scope, dir, id, expected)
    }

    fn ask(&mut self, scope: Scope, dir: Direction, key: IdKey) -> Pair {
        let asked = self.requests.ask(scope, dir, key, ());
        let mut first = asked.reuses.filter(|_| key != IdKey::Null);
        if first.is_some() {
            let open = self.requests.find(scope, dir, key);
            first = open.filter(|open| *open != asked.handle).or(first);
        }
        Pair {
            handle: Some(asked.handle),
            first,
            again: asked.again,
            forgotten: self.requests.has_forgotten(scope, dir),
            evicted: asked.forgotten.map(|(handle, ())| handle),
        }
    }

    fn answer(
        &mut self,
        scope: Scope,
        dir: Direction,
        id: &RequestId<'_>,
        key: IdKey,
        error: Option<&[u8]>,
    ) -> Pair {
        let answer = if key == IdKey::Null && is_about_noise(id, error) {
            Answer::Orphan
        } else {
            self.requests.answer_as(scope, dir, id, key)
        };
        let mut pair = Pair::default();
        match answer {
            Answer::Pairs(handle, ()) => pair.handle = Some(handle),
            Answer::Duplicate => pair.again = true,
            Answer::Forgotten | Answer::Orphan | Answer::TypeChanged(_) => {
                pair.forgotten = self.requests.has_forgotten(scope, dir.opposite());
            }
        }
        pair
    }

    /// A cancellation names this id, which is source text.
    fn cancel(&mut self, scope: Scope, dir: Direction, id: &[u8]) -> Pair {
        let key = IdKey::by_value_of(id);
        let found = self.requests.find(scope, dir, key);
        let Some(handle) = found.filter(|_| key != IdKey::Null) else {
            return Pair {
                again: self.requests.knows(scope, dir, key),
                forgotten: self.requests.has_forgotten(scope, dir),
                ..Pair::default()
            };
        };
        if !self.requests.is_cancelled(handle) {
            self.requests.give_up(handle);
            self.given_up.push_back(handle);
        }
        if self.given_up.len() > GIVEN_UP
            && let Some(oldest) = self.given_up.pop_front()
        {
            // Unless it was answered late, or forgotten for another.
            self.requests.forget_one(oldest);
        }
        Pair {
            handle: Some(handle),
            ..Pair::default()
        }
    }

    /// The request in flight that an answer with this id would be for.
    #[must_use]
    pub fn find(&self, scope: Scope, dir: Direction, id: &RequestId<'_>) -> Option<Handle> {
        self.requests.find(scope, dir, self.requests.key(id))
    }

    /// Removes a request that is over for a reason that no message reports.
    pub fn take(&mut self, handle: Handle) {
        self.requests.remove(handle);
    }
}

/// The method of a notification that gives up a request.
const CANCELLED: &str = "notifications/cancelled";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::{Conversation, Does, Step};
    use crate::event::{Event, EventBody, LineEnd, Offset, Payload, SessionKey};

    /// Converts a step of a conversation.
    fn of_step(dir: Direction, step: &Step<'_, ()>) -> Pair {
        let mut pair = Pair::default();
        match step.what {
            Does::Asks => {
                pair.handle = step.handle;
                pair.first = step.first_of_id();
                pair.again = step.again;
                pair.forgotten = step.has_forgotten(dir);
                pair.evicted = step.forgotten;
            }
            Does::Answers | Does::Late | Does::Cancels => pair.handle = step.handle,
            Does::Duplicate => pair.again = true,
            Does::Orphan | Does::TypeChanged => {
                pair.forgotten = step.has_forgotten(dir.opposite());
            }
            Does::Nothing | Does::Refuses | Does::Progress => {
                if let Kind::Notification { method, params } = &step.envelope.kind
                    && method == CANCELLED
                    && let Some(id) = params.and_then(|one| json::find(one, &["requestId"]))
                {
                    pair.again = step.knows(dir, id);
                    pair.forgotten = step.has_forgotten(dir);
                }
            }
        }
        pair
    }

    fn event(session: u32, dir: Direction, text: &str) -> Event {
        let payload = Payload::Whole(text.to_owned().into());
        let body = EventBody::message(payload, LineEnd::Lf);
        let mut event = Event::new(Offset(0), dir, body);
        event.session = SessionKey(session);
        event
    }

    /// Passes a message to both; returns the result of each.
    fn both(
        conversation: &mut Conversation<()>,
        pairs: &mut MessagePairs,
        event: &Event,
    ) -> (Pair, Pair) {
        let mut told = Pair::default();
        conversation.observe(event, None, |step| told = of_step(event.dir, &step));
        let message = event.envelope().unwrap();
        let key = match &message.kind {
            Kind::Request { id, .. } | Kind::Response { id, .. } => IdKey::by_value(id),
            _ => IdKey::Null,
        };
        let (scope, dir) = (event.scope(), event.dir);
        let quick = match (&message.kind, key) {
            (Kind::Request { .. }, IdKey::Integer(id)) => pairs.ask_next(scope, dir, id),
            (Kind::Response { .. }, IdKey::Integer(id)) => {
                // What is not expected is left to the other way.
                assert_eq!(pairs.answer_if(scope, dir, id, |_| false), None);
                pairs.answer_if(scope, dir, id, |_| true)
            }
            _ => None,
        };
        let pair = match quick {
            None => pairs.observe(scope, dir, &message, key),
            handle => Pair {
                handle,
                ..Pair::default()
            },
        };
        (told, pair)
    }

    fn of_handles() -> Conversation<()> {
        Conversation::of_handles().by_value()
    }

    /// `@` counts up with the requests.
    const IDS: &[&str] = &[
        "@", "@", "@", "@", "1", "2", "3", "3.0", "\"1\"", "\"a\"", "null", "true", "1.5", "7000",
    ];

    fn said() -> impl Strategy<Value = (u32, bool, String)> {
        (0..2_u32, any::<bool>(), 0..8_u8, prop::sample::select(IDS)).prop_map(
            |(session, back, kind, id)| {
                let text = match kind {
                    0..=2 => format!(r#"{{"id":{id},"method":"x"}}"#),
                    3 | 4 => format!(r#"{{"id":{id},"result":{{}}}}"#),
                    5 => format!(r#"{{"id":{id},"error":{{"code":-32700}}}}"#),
                    6 => format!(r#"{{"method":"{CANCELLED}","params":{{"requestId":{id}}}}}"#),
                    _ => format!(r#"{{"method":"{CANCELLED}","params":{{"x":{id}}}}}"#),
                };
                (session, back, text)
            },
        )
    }

    proptest! {
        #[test]
        fn messages_are_told_as_a_conversation_tells_them(
            said in prop::collection::vec(said(), 1..80),
        ) {
            let (mut conversation, mut pairs) = (of_handles(), MessagePairs::default());
            let mut count = 0;
            for (session, back, text) in said {
                let dir = if back { Direction::ToClient } else { Direction::ToServer };
                count += u32::from(text.contains(r#""method":"x""#));
                let text = text.replace('@', &count.to_string());
                let (told, pair) = both(&mut conversation, &mut pairs, &event(session, dir, &text));
                prop_assert_eq!(told, pair, "{}", text);
            }
        }
    }

    #[test]
    fn what_is_forgotten_is_forgotten_as_by_a_conversation() {
        let (mut conversation, mut pairs) = (of_handles(), MessagePairs::default());
        let mut tell = |dir, text: &str| {
            let (told, pair) = both(&mut conversation, &mut pairs, &event(1, dir, text));
            assert_eq!(told, pair, "{text}");
            pair
        };
        for id in 0..70_000 {
            let asked = tell(
                Direction::ToServer,
                &format!(r#"{{"id":{id},"method":"x"}}"#),
            );
            assert_eq!(asked.evicted.is_some(), id >= 65_536, "{id}");
        }
        // Of those that were given up, the oldest are forgotten.
        for id in 60_000..66_000 {
            let params = format!(r#"{{"method":"{CANCELLED}","params":{{"requestId":{id}}}}}"#);
            assert!(tell(Direction::ToServer, &params).handle.is_some());
        }
        for id in [60_000, 61_903, 61_904, 65_999, 69_999, 1, 70_000] {
            let answer = tell(
                Direction::ToClient,
                &format!(r#"{{"id":{id},"result":{{}}}}"#),
            );
            let is_known = (61_904..70_000).contains(&id);
            assert_eq!(answer.handle.is_some(), is_known, "{id}");
        }
    }
}
