//! Which requests await their response.

use std::collections::HashMap;

use crate::envelope::{Envelope, Kind, RequestId};
use crate::event::{Direction, Offset};
use crate::json;

/// The requests of both sides that still await their response and were not cancelled.
///
/// Keyed by direction, id and type of the id: both sides may count from zero.
#[derive(Debug, Default)]
pub struct Pending {
    waiting: HashMap<Vec<u8>, Waiting>,
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
                self.key.clear();
                self.key.push(dir as u8);
                id.write_key(&mut self.key);
                if self.waiting.len() < LIMIT {
                    self.waiting
                        .insert(self.key.clone(), Waiting { dir, at, seq });
                }
            }
            Kind::Response { id, .. } if id.pairs() => {
                self.key.clear();
                self.key.push(dir.opposite() as u8);
                id.write_key(&mut self.key);
                self.waiting.remove(&self.key);
            }
            // Nobody owes an answer to a request that its sender has given up.
            Kind::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.and_then(|params| json::find(params, &["requestId"]));
                self.key.clear();
                self.key.push(dir as u8);
                RequestId::of_source(id.unwrap_or_default()).write_key(&mut self.key);
                self.waiting.remove(&self.key);
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
}
