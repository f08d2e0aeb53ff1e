//! The ids of requests: which are in flight, and which were ever used.

use tapewright_schemas::conversation::Pairing;
use tapewright_schemas::event::{Direction, Scope};

use super::asked::Asked;
use crate::id::Key;

/// The requests of one direction of a session, by what their ids mean.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    pairing: Pairing<Asked>,
    /// Whether there ever was a request.
    any: bool,
    /// A request was cancelled while it was in flight.
    pub(crate) any_cancelled: bool,
}

/// There is but one direction of one session.
const DIR: Direction = Direction::ToServer;

impl Requests {
    /// The first request of this id that awaits its response.
    pub(crate) fn find(&self, key: Key) -> Option<&Asked> {
        let first = self.pairing.find(Scope::default(), DIR, key)?;
        self.pairing.get(first)
    }

    pub(crate) fn find_mut(&mut self, key: Key) -> Option<&mut Asked> {
        let first = self.pairing.find(Scope::default(), DIR, key)?;
        self.pairing.get_mut(first)
    }

    /// The first request of this id that is not cancelled yet is cancelled.
    pub(crate) fn cancel(&mut self, key: Key) -> Option<&mut Asked> {
        let cancelled = self.pairing.cancel(Scope::default(), DIR, key)?;
        self.any_cancelled = true;
        self.pairing.get_mut(cancelled)
    }

    /// Takes the first request of this id out of flight.
    pub(crate) fn take(&mut self, key: Key) -> Option<Asked> {
        self.pairing.take(Scope::default(), DIR, key)
    }

    /// Puts a request in flight.
    pub(crate) fn insert(&mut self, key: Key, asked: Asked) {
        self.any = true;
        drop(self.pairing.ask(Scope::default(), DIR, key, asked));
    }

    /// Whether a request with this id was seen before.
    pub(crate) fn knows(&self, key: Key) -> bool {
        self.pairing.knows(Scope::default(), DIR, key)
    }

    /// Whether a request may be unknown although it was seen.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.pairing.has_forgotten(Scope::default(), DIR)
    }

    /// What is in flight, in the order of the requests.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = &Asked> {
        self.pairing.iter().map(|(_, asked)| asked)
    }

    /// How many are in flight.
    pub(crate) fn in_flight_count(&self) -> usize {
        self.pairing.len()
    }

    /// Whether there ever was a request.
    pub(crate) fn has_any(&self) -> bool {
        self.any
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.pairing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use tapewright_schemas::event::{ConduitId, Offset};

    use super::*;
    use crate::method::Method;
    use crate::revision::Revisions;
    use crate::session::Moment;

    fn asked(seq: u64) -> Asked {
        let moment = Moment { seq, at: Offset(0) };
        Asked::new(moment, ConduitId(0), Method::Ping, Revisions::ALL)
    }

    #[test]
    fn the_first_of_two_requests_with_one_id_is_answered_first() {
        let mut requests = Requests::default();
        let (key, same) = (Key::by_value_of(b"1"), Key::by_value_of(b"1.0"));
        requests.insert(key, asked(1));
        requests.insert(same, asked(2));
        assert_eq!(requests.in_flight_count(), 2);
        assert_eq!(requests.take(same).unwrap().seq, 1);
        assert_eq!(requests.take(key).unwrap().seq, 2);
        assert!(requests.take(key).is_none());
        assert!(requests.knows(key) && requests.has_any() && requests.is_idle());
    }

    #[test]
    fn memory_is_bounded_and_says_so() {
        let mut requests = Requests::default();
        for number in 0..200_000_u64 {
            requests.insert(Key::Text(number), asked(number));
        }
        assert!(requests.in_flight_count() <= 65_536);
        assert!(requests.has_forgotten());
        let mut requests = Requests::default();
        for number in 0..200_000 {
            requests.insert(Key::Integer(number), asked(0));
            requests.take(Key::Integer(number));
        }
        assert!(!requests.has_forgotten());
    }
}
