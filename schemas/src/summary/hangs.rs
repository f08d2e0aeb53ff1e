//! The requests that hung.

use super::report::Hang;
use crate::envelope::Envelope;
use crate::event::{Event, Offset};
use crate::waits::{Change, Waits};

/// Collects the requests that hung.
#[derive(Debug, Default)]
pub(super) struct Hangs {
    waits: Waits,
    count: u64,
    found: Vec<Hang>,
}

/// How many are listed.
const LIMIT: usize = 1_000;

impl Hangs {
    pub(super) fn new(long: Offset) -> Self {
        Self {
            waits: Waits::new(long),
            ..Self::default()
        }
    }

    pub(super) fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        self.waits.observe(event, message, |_| {});
        self.collect();
    }

    /// How many there were, and the first of them.
    pub(super) fn finish(&mut self, timed: bool) -> (u64, Vec<Hang>) {
        self.waits.finish();
        self.collect();
        let mut found = std::mem::take(&mut self.found);
        found.sort_by(|one, other| {
            let since = |hang: &Hang| hang.since_ms.unwrap_or_default();
            (since(one).total_cmp(&since(other))).then(one.seq.cmp(&other.seq))
        });
        if !timed {
            for hang in &mut found {
                (hang.since_ms, hang.waited_ms) = (None, None);
            }
        }
        (self.count, found)
    }

    fn collect(&mut self) {
        while let Some(change) = self.waits.poll() {
            let Change::Over { over, hung: true } = change else {
                continue;
            };
            let (wait, at) = (over.exchange, over.at);
            self.count += 1;
            if self.found.len() < LIMIT {
                self.found.push(Hang {
                    from: wait.dir.sender(),
                    seq: wait.seq,
                    session: wait.session.0,
                    since_ms: Some(wait.at.millis()),
                    waited_ms: Some(at.since(wait.at).millis()),
                    closed: over.outcome.word(),
                    fault: wait.fault,
                    method: wait.method,
                    name: wait.name,
                    id: wait.id,
                });
            }
        }
    }
}
