//! How many answers are due.

use super::{IdKey, Pairing};
use crate::envelope::{Envelope, Kind};
use crate::event::{Direction, Scope};
use crate::json;

/// The requests of both sides that still await a response and were not cancelled, in a conversation
/// of one scope.
#[derive(Debug)]
pub struct Owed(Pairing<()>);

impl Default for Owed {
    fn default() -> Self {
        Self(Pairing::without_memory())
    }
}

impl Owed {
    /// Follows the next message.
    pub fn observe(&mut self, dir: Direction, envelope: &Envelope<'_>) {
        let scope = Scope::default();
        match &envelope.kind {
            Kind::Request { id, .. } if id.pairs() => drop(self.0.ask(scope, dir, id, ())),
            Kind::Response { id, .. } if id.pairs() => {
                self.0.take(scope, dir.opposite(), id);
            }
            // No answer is due to a request that its sender has given up.
            Kind::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                let id = IdKey::exact_of(id.unwrap_or_default());
                if let Some(request) = self.0.cancel(scope, dir, id) {
                    self.0.remove(request);
                }
            }
            _ => {}
        }
    }

    /// The number of requests in this direction that await a response.
    #[must_use]
    pub fn count(&self, dir: Direction) -> usize {
        self.0.count(dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ToClient, ToServer};

    fn counts(messages: &[(Direction, &str)]) -> (usize, usize) {
        let mut owed = Owed::default();
        for (dir, text) in messages {
            owed.observe(*dir, &Envelope::parse(text.as_bytes()));
        }
        (owed.count(ToServer), owed.count(ToClient))
    }

    #[test]
    fn pairs_by_direction_id_and_type() {
        let (ask, answer) = (r#"{"id":0,"method":"a"}"#, r#"{"id":0,"result":{}}"#);
        assert_eq!(counts(&[(ToServer, ask)]), (1, 0));
        assert_eq!(counts(&[(ToServer, ask), (ToClient, ask)]), (1, 1));
        let both = [(ToServer, ask), (ToClient, ask), (ToServer, answer)];
        assert_eq!(counts(&both), (1, 0));
        assert_eq!(counts(&[(ToServer, ask), (ToClient, answer)]), (0, 0));
        let text = r#"{"id":"0","result":{}}"#;
        assert_eq!(counts(&[(ToServer, ask), (ToClient, text)]), (1, 0));
        assert_eq!(counts(&[(ToServer, r#"{"id":null,"method":"a"}"#)]), (0, 0));
    }

    #[test]
    fn nobody_owes_an_answer_to_a_cancelled_request() {
        let ask = r#"{"id":"a","method":"x"}"#;
        let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#;
        assert_eq!(counts(&[(ToServer, ask), (ToServer, cancel)]), (0, 0));
        assert_eq!(counts(&[(ToServer, ask), (ToClient, cancel)]), (1, 0));
    }
}
