//! Which requests await their response.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher};

use foldhash::fast::FixedState;

use crate::envelope::{Envelope, Kind, RequestId};
use crate::event::{Direction, Offset};
use crate::json;

/// The requests of both sides that still await their response and were not cancelled.
///
/// Keyed by direction, id and type of the id: both sides may count from zero.
#[derive(Debug, Default)]
pub struct Pending {
    // By a hash of direction and id, which spares a copy of the id. Two ids of one hash
    // would be counted as one, and nothing but a count is taken from here.
    waiting: HashMap<u64, Waiting, BuildHasherDefault<AsItIs>>,
    // Scratch for a key.
    key: Vec<u8>,
}

/// One request that awaits its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which way the request went.
    pub dir: Direction,
    /// When it was seen.
    pub at: Offset,
    /// Its place on the tape.
    pub seq: u64,
}

/// How many requests are followed at once; beyond that further ones are not.
const LIMIT: usize = 65_536;

impl Pending {
    /// Follows the next message.
    pub fn observe(&mut self, dir: Direction, at: Offset, seq: u64, envelope: &Envelope<'_>) {
        match &envelope.kind {
            Kind::Request { id, .. } if id.pairs() => {
                let key = self.hash(dir, id);
                if self.waiting.len() < LIMIT {
                    self.waiting.insert(key, Waiting { dir, at, seq });
                }
            }
            Kind::Response { id, .. } if id.pairs() => {
                let key = self.hash(dir.opposite(), id);
                self.waiting.remove(&key);
            }
            // Nobody owes an answer to a request that its sender has given up.
            Kind::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                let key = self.hash(dir, &RequestId::of_source(id.unwrap_or_default()));
                self.waiting.remove(&key);
            }
            _ => {}
        }
    }

    /// How many requests in this direction await their response.
    #[must_use]
    pub fn count(&self, dir: Direction) -> usize {
        self.waiting
            .values()
            .filter(|waiting| waiting.dir == dir)
            .count()
    }

    fn hash(&mut self, dir: Direction, id: &RequestId<'_>) -> u64 {
        self.key.clear();
        self.key.push(dir as u8);
        id.write_key(&mut self.key);
        FixedState::default().hash_one(self.key.as_slice())
    }
}

/// The hash of a number that is a hash already.
#[derive(Clone, Copy, Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ToClient, ToServer};

    fn counts(messages: &[(Direction, &str)]) -> (usize, usize) {
        let mut pending = Pending::default();
        for (at, (dir, text)) in (0..).zip(messages) {
            pending.observe(*dir, Offset(at), at, &Envelope::parse(text.as_bytes()));
        }
        (pending.count(ToServer), pending.count(ToClient))
    }

    #[test]
    fn pairs_by_direction_id_and_type() {
        let (ask, answer) = (r#"{"id":0,"method":"a"}"#, r#"{"id":0,"result":{}}"#);
        assert_eq!(counts(&[(ToServer, ask)]), (1, 0));
        assert_eq!(counts(&[(ToServer, ask), (ToClient, ask)]), (1, 1));
        assert_eq!(
            counts(&[(ToServer, ask), (ToClient, ask), (ToServer, answer)]),
            (1, 0)
        );
        assert_eq!(counts(&[(ToServer, ask), (ToClient, answer)]), (0, 0));
        assert_eq!(
            counts(&[(ToServer, ask), (ToClient, r#"{"id":"0","result":{}}"#)]),
            (1, 0)
        );
        assert_eq!(counts(&[(ToServer, r#"{"id":null,"method":"a"}"#)]), (0, 0));
    }

    #[test]
    fn nobody_owes_an_answer_to_a_cancelled_request() {
        let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#;
        assert_eq!(
            counts(&[(ToServer, r#"{"id":"a","method":"x"}"#), (ToServer, cancel)]),
            (0, 0)
        );
        assert_eq!(
            counts(&[(ToServer, r#"{"id":"a","method":"x"}"#), (ToClient, cancel)]),
            (1, 0)
        );
    }
}
