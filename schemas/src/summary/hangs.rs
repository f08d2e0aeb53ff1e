//! The requests that hung.

use super::report::Hang;
use crate::conversation::{Over, Step};
use crate::envelope::Envelope;
use crate::event::{Event, Offset};
use crate::order::Order as _;
use crate::waits::{Change, HangReported, Waits};

/// Collects the requests that hung.
#[derive(Debug, Default)]
pub(super) struct Hangs {
    waits: Waits,
    count: u64,
    found: Vec<Hang>,
}

/// The maximum number of hangs that are listed.
const LIMIT: usize = 1_000;

impl Hangs {
    pub(super) fn new(long: Offset) -> Self {
        Self {
            waits: Waits::new(long),
            ..Self::default()
        }
    }

    /// Handles the next event; `each` is called for every single message.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        each: impl FnMut(Step<'_, HangReported>),
    ) {
        self.waits.observe(event, message, each);
    }

    /// The number of hangs, and the first of them.
    pub(super) fn finish(
        &mut self,
        timed: bool,
        over: impl FnMut(&Over<HangReported>),
    ) -> (u64, Vec<Hang>) {
        self.waits.finish();
        self.collect(over);
        let mut found = std::mem::take(&mut self.found);
        found.order_by(|one, other| {
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

    /// Handles what has happened; `each` is called with every exchange that is over.
    pub(super) fn collect(&mut self, mut each: impl FnMut(&Over<HangReported>)) {
        while let Some(change) = self.waits.poll() {
            let Change::Over { over, hung } = change else {
                continue;
            };
            each(&over);
            if !hung {
                continue;
            }
            let (wait, at) = (over.exchange, over.at);
            self.count += 1;
            if self.found.len() < LIMIT {
                self.found.push(Hang {
                    from: wait.dir.sender(),
                    seq: wait.seq,
                    session: wait.session.0,
                    since_ms: Some(wait.at.millis()),
                    waited_ms: Some(at.since(wait.at).millis()),
                    closed: over.outcome,
                    fault: wait.fault,
                    method: wait.method,
                    name: wait.name,
                    id: wait.id,
                });
            }
        }
    }
}
