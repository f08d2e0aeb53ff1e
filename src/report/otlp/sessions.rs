//! The sessions of a tape, each of which is exported once.

use std::collections::{BTreeMap, VecDeque};

use super::span::Event;
use tapewright_schemas::order::Order as _;

/// How many sessions of a tape are tracked at once, and how many events of a session.
const SESSIONS: usize = 10_000;
const EVENTS: usize = 128;
/// How many sessions are exported at once to make room for others.
const AT_ONCE: usize = 100;
/// How many ranges of numbers are remembered. Recorders number sessions consecutively, so only
/// artificial tapes have more.
const RANGES: usize = 2 * SESSIONS;

/// The sessions of a tape.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: BTreeMap<u32, Session>,
    // Those that were exported: they are the first to make room for others.
    told: VecDeque<u32>,
    // The numbers of all that were ever exported.
    ever: Numbers,
}

/// The state of a session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) from_ms: f64,
    pub(super) to_ms: f64,
    pub(super) revision: Option<String>,
    /// Whether it has an `Mcp-Session-Id`.
    pub(super) has_id: bool,
    pub(super) events: Vec<Event>,
    /// How many events did not fit.
    pub(super) dropped: u64,
    is_told: bool,
}

impl Session {
    /// Adds an event. One that comes after the session was exported is dropped.
    pub(super) fn add(&mut self, event: Event) {
        if self.is_told {
            return;
        }
        if self.events.len() < EVENTS {
            self.events.push(event);
        } else {
            self.dropped += 1;
        }
    }

    /// Returns it for export, and keeps only what later exchanges need.
    fn told(&mut self) -> Self {
        self.is_told = true;
        Self {
            revision: self.revision.clone(),
            events: std::mem::take(&mut self.events),
            ..*self
        }
    }
}

impl Sessions {
    /// The session, extended to include these two times.
    pub(super) fn seen(&mut self, number: u32, from: f64, to: f64) -> &mut Session {
        let (ever, told) = (&self.ever, &mut self.told);
        let fresh = || {
            let is_told = ever.has(number);
            told.extend(is_told.then_some(number));
            Session {
                from_ms: from,
                to_ms: to,
                is_told,
                ..Session::default()
            }
        };
        let session = self.known.entry(number).or_insert_with(fresh);
        session.from_ms = session.from_ms.min(from);
        session.to_ms = session.to_ms.max(to);
        session
    }

    /// Makes room for a session if there is none. Returns the sessions to export for that, with
    /// their numbers: those that have been quiet for longest.
    pub(super) fn make_room(&mut self, number: u32) -> Vec<(u32, Session)> {
        if self.known.len() < SESSIONS || self.known.contains_key(&number) {
            return Vec::new();
        }
        while let Some(told) = self.told.pop_front() {
            if self.known.remove(&told).is_some() {
                return Vec::new();
            }
        }
        let last = |number: &u32| self.known.get(number).map_or(0.0, |one| one.to_ms);
        let mut quiet: Vec<u32> = self.known.keys().copied().collect();
        quiet.order_by(|one, other| last(one).total_cmp(&last(other)));
        // Several at once, since finding them visits all sessions.
        quiet.truncate(AT_ONCE);
        let mut given_up = Vec::with_capacity(quiet.len());
        for number in quiet {
            self.ever.add(number);
            given_up.extend(self.known.remove(&number).map(|session| (number, session)));
        }
        given_up
    }

    /// The state of a session.
    pub(super) fn get(&self, number: u32) -> Option<&Session> {
        self.known.get(&number)
    }

    /// Ends a session. Returns it for export, unless it was exported before.
    pub(super) fn tell(&mut self, number: u32) -> Option<Session> {
        let session = self.known.get_mut(&number)?;
        if session.is_told {
            return None;
        }
        self.ever.add(number);
        self.told.push_back(number);
        Some(session.told())
    }

    /// All sessions that are still to be exported, at the end.
    pub(super) fn finish(&mut self) -> impl Iterator<Item = (u32, Session)> + use<> {
        let known = std::mem::take(&mut self.known);
        known.into_iter().filter(|(_, session)| !session.is_told)
    }
}

/// A set of numbers, as ranges from the first to the last.
#[derive(Debug, Default)]
struct Numbers(BTreeMap<u32, u32>);

impl Numbers {
    fn has(&self, number: u32) -> bool {
        let range = self.0.range(..=number).next_back();
        range.is_some_and(|(_, last)| number <= *last)
    }

    fn add(&mut self, number: u32) {
        if self.has(number) {
            return;
        }
        let before = self.0.range(..number).next_back();
        let joined = before.filter(|(_, last)| last.checked_add(1) == Some(number));
        let first = joined.map_or(number, |(first, _)| *first);
        let next = number.checked_add(1).and_then(|next| self.0.remove(&next));
        self.0.insert(first, next.unwrap_or(number));
        if self.0.len() > RANGES {
            // Numbers between the lowest two ranges then count as exported: no session is ever
            // exported twice.
            let lowest = self.0.pop_first().map(|(first, _)| first);
            if let Some((second, last)) = self.0.pop_first() {
                self.0.insert(lowest.unwrap_or(second), last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_session_that_speaks_again_is_not_told_again() {
        let mut sessions = Sessions::default();
        sessions.seen(7, 1.0, 2.0).revision = Some("2025-06-18".to_owned());
        let told = sessions.tell(7).unwrap();
        assert_eq!(told.revision.as_deref(), Some("2025-06-18"));
        let again = sessions.seen(7, 30.0, 40.0);
        assert_eq!(
            again.revision.as_deref(),
            Some("2025-06-18"),
            "for its exchanges"
        );
        assert!(sessions.tell(7).is_none());
        assert_eq!(sessions.finish().count(), 0);
    }

    #[test]
    fn of_many_sessions_each_is_told_once_however_often_it_speaks() {
        let most = u32::try_from(SESSIONS).unwrap();
        let mut sessions = Sessions::default();
        let mut told = Vec::new();
        for round in 0..2 {
            for number in 0..3 * most {
                let quiet = sessions.make_room(number);
                told.extend(quiet.into_iter().map(|(number, _)| number));
                sessions.seen(number, f64::from(round), f64::from(round));
                assert!(sessions.known.len() <= SESSIONS);
            }
        }
        told.extend(sessions.finish().map(|(number, _)| number));
        let each: BTreeSet<u32> = told.iter().copied().collect();
        assert_eq!((told.len(), each.len()), (3 * SESSIONS, 3 * SESSIONS));
        assert_eq!(sessions.ever.0.len(), 1);
    }

    #[test]
    fn those_that_were_told_make_room_first() {
        let mut sessions = Sessions::default();
        let most = u32::try_from(SESSIONS).unwrap();
        for number in 0..most {
            sessions.seen(number, 0.0, f64::from(number));
        }
        sessions.tell(most - 1).unwrap();
        assert!(sessions.make_room(most).is_empty());
        assert!(sessions.get(most - 1).is_none() && sessions.get(0).is_some());
    }

    #[test]
    fn numbers_without_neighbours_are_bounded() {
        let mut numbers = Numbers::default();
        let many = u32::try_from(RANGES).unwrap() + 10;
        for number in 0..many {
            numbers.add(2 * number);
        }
        assert!(numbers.0.len() <= RANGES);
        assert!((0..many).all(|number| numbers.has(2 * number)));
        assert!(!numbers.has(2 * many - 3));
    }

    proptest! {
        #[test]
        fn ranges_hold_what_was_added(added in prop::collection::vec(prop_oneof![0..40_u32, u32::MAX - 5..=u32::MAX], 0..60)) {
            let mut numbers = Numbers::default();
            for number in &added {
                numbers.add(*number);
            }
            let set: BTreeSet<u32> = added.into_iter().collect();
            for number in (0..41).chain(u32::MAX - 6..=u32::MAX) {
                prop_assert_eq!(numbers.has(number), set.contains(&number), "{}", number);
            }
            let ends: Vec<_> = numbers.0.iter().collect();
            prop_assert!(ends.windows(2).all(|two| *two[0].1 + 1 < *two[1].0));
        }
    }
}
