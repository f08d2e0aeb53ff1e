//! Logs gaps of a tape.

use std::collections::HashMap;

use tapewright_schemas::event::{Gap, GapReason};
use tracing::warn;

/// The gaps that grow, because a disk stays full: each attempt to write reports all that is
/// missing by then.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    // By session.
    growing: HashMap<u32, Growing>,
}

#[derive(Clone, Copy, Debug)]
struct Growing {
    // As told last, and as logged last.
    events: u64,
    logged: u64,
}

/// How many sessions are remembered; in others each attempt is logged.
const LIMIT: usize = 4_096;

impl Gaps {
    /// Logs a gap; one that grows, each time that it has doubled.
    pub(super) fn log(&mut self, lost: &Gap, session: u32, place: u64, seq: Option<u64>) {
        let (events, bytes) = (lost.events, lost.bytes);
        // Without a place it was lost on its way to the log: the tape has the events.
        if place == 0 && lost.why == GapReason::QueueFull {
            warn!(name: "events_unlogged", target: "tapewright::log", session, events);
            return;
        }
        if lost.why == GapReason::Disk && !self.is_news(session, events) {
            return;
        }
        let why = lost.why.name();
        warn!(name: "gap", target: "tapewright::record", session, seq, events, bytes, why);
    }

    fn is_news(&mut self, session: u32, events: u64) -> bool {
        let logged = match self.growing.get_mut(&session) {
            Some(known) if (known.events + 1..known.logged * 2).contains(&events) => {
                known.events = events;
                return false;
            }
            _ => events,
        };
        if self.growing.len() < LIMIT || self.growing.contains_key(&session) {
            self.growing.insert(session, Growing { events, logged });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Metadata, Subscriber, subscriber::with_default};

    use super::*;

    /// Collects the names of events.
    #[derive(Clone, Default)]
    struct Names(Arc<Mutex<Vec<&'static str>>>);

    impl Subscriber for Names {
        fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _span: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _span: &Id, _values: &Record<'_>) {}

        fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            names.push(event.metadata().name());
        }

        fn enter(&self, _span: &Id) {}

        fn exit(&self, _span: &Id) {}
    }

    /// The gaps of which these events of one session tell.
    fn logged(gaps: &[(u64, GapReason, u64)]) -> Vec<&'static str> {
        let names = Names::default();
        with_default(names.clone(), || {
            let mut all = Gaps::default();
            for (place, why, events) in gaps.iter().copied() {
                let gap = Gap {
                    events,
                    why,
                    ..Gap::default()
                };
                all.log(&gap, 0, place, Some(place));
            }
        });
        let names = names.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.clone()
    }

    #[test]
    fn what_the_log_did_not_hear_is_no_gap_of_the_tape() {
        let lost = [(0, GapReason::QueueFull, 3), (7, GapReason::QueueFull, 3)];
        assert_eq!(logged(&lost), ["events_unlogged", "gap"]);
    }

    #[test]
    fn a_gap_that_grows_is_logged_each_time_that_it_has_doubled() {
        let attempts = |counts: &[u64]| {
            let told = counts.iter().map(|count| (9, GapReason::Disk, *count));
            logged(&told.collect::<Vec<_>>()).len()
        };
        assert_eq!(attempts(&(1..=100).collect::<Vec<_>>()), 7);
        // Once the disk has space again, the next gap is another one.
        assert_eq!(attempts(&[1, 1, 1]), 3);
        assert_eq!(attempts(&[1, 2, 3, 4, 5, 1]), 4);
        assert_eq!(attempts(&[40, 41, 79, 80, 81, 30]), 3);
    }
}
