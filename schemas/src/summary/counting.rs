//! Requests of one kind, counted: those of a method, or the calls of a tool.

use super::latency::Latencies;
use super::report::Counters;
use crate::event::{Direction, Offset};
use crate::order::Order as _;

/// Follows requests, each of a named kind on its side.
#[derive(Debug, Default)]
pub(super) struct Counting {
    kinds: Vec<Kind>,
}

/// The requests of one kind.
#[derive(Debug)]
struct Kind {
    dir: Direction,
    name: String,
    counters: Counters,
    latencies: Latencies,
}

/// An answer to a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) error: bool,
    pub(super) tool_error: bool,
    pub(super) bytes: u64,
    pub(super) took: Offset,
}

/// The maximum number of kinds that are distinguished; the rest counts as one.
const LIMIT: usize = 256;
const OTHERS: &str = "(others)";

impl Counting {
    /// Counts a request of this many bytes; returns its kind.
    pub(super) fn ask(&mut self, dir: Direction, name: &str, bytes: u64) -> usize {
        let place = self.place(dir, name);
        if let Some(kind) = self.kinds.get_mut(place) {
            kind.counters.count += 1;
            kind.counters.request_bytes += bytes;
        }
        place
    }

    /// A request of this kind is answered.
    pub(super) fn answer(&mut self, place: usize, reply: Reply) {
        let Some(kind) = self.kinds.get_mut(place) else {
            return;
        };
        kind.counters.answered += 1;
        kind.counters.errors += u64::from(reply.error);
        kind.counters.tool_errors += u64::from(reply.tool_error);
        kind.counters.response_bytes += reply.bytes;
        kind.latencies.add(reply.took.0);
    }

    /// The counts of each side, in the order of their first requests, made from the sender, the
    /// name of a kind and its counters.
    pub(super) fn finish<R>(
        mut self,
        timed: bool,
        make: impl Fn(Direction, String, Counters) -> R,
    ) -> Vec<R> {
        self.kinds.order_by_key(|kind| kind.dir);
        let kinds = self.kinds.into_iter();
        let row = |kind: Kind| {
            let delays = kind.latencies.delays().filter(|_| timed);
            let counters = Counters {
                delays,
                ..kind.counters
            };
            make(kind.dir, kind.name, counters)
        };
        kinds.map(row).collect()
    }

    fn place(&mut self, dir: Direction, name: &str) -> usize {
        let full = self.kinds.len() >= LIMIT;
        for name in [name, OTHERS] {
            let mut all = self.kinds.iter();
            if let Some(place) = all.position(|one| one.dir == dir && one.name == name) {
                return place;
            }
            if !full {
                break;
            }
        }
        self.kinds.push(Kind {
            dir,
            name: if full { OTHERS } else { name }.to_owned(),
            counters: Counters::default(),
            latencies: Latencies::default(),
        });
        self.kinds.len() - 1
    }
}
