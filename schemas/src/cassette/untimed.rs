//! The events of a cassette without times.

use std::collections::{HashMap, HashSet};

use super::course::{Course, Step};
use super::read::{Cassette, Entry};
use super::timeline::{Timeline, Where, event};
use crate::event::{ConduitId, Direction, Event, EventBody, Offset, SessionKey};

/// The state for a cassette without times, in addition to its events.
pub(super) struct Untimed {
    pub(super) course: Course,
    // For each entry outside the exchanges, whether it came before their answers.
    pub(super) early: std::vec::IntoIter<bool>,
    // Conduits on which the client sent something outside the exchanges.
    pub(super) posted: HashSet<ConduitId>,
    // The position of the client's last message on a conduit, and of the last message there in
    // either direction.
    conduits: HashMap<ConduitId, (Offset, Offset)>,
    // The positions of the first and the last event of a session.
    sessions: HashMap<SessionKey, (Offset, Offset)>,
    waiting: Vec<(Until, Event)>,
}

/// What an event without a time follows.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// The client's last message on its conduit.
    Said,
    /// All that crossed on its conduit.
    Over,
    /// The first event of its session, which it precedes.
    Began,
    /// The last event of its session.
    Ended,
}

impl Untimed {
    pub(super) fn new(cassette: &Cassette) -> Self {
        let said = |entry: &&(usize, Entry)| entry.1.dir == Direction::ToServer;
        let posted = cassette.messages.iter().filter(said);
        Self {
            course: Course::default(),
            early: early(&cassette.messages).into_iter(),
            posted: posted.filter_map(|(_, entry)| entry.conduit).collect(),
            conduits: HashMap::new(),
            sessions: HashMap::new(),
            waiting: Vec::new(),
        }
    }
}

/// Which entries outside the exchanges came before their answers: those that are marked so, and
/// those before such an entry since the client's last message.
fn early(messages: &[(usize, Entry)]) -> Vec<bool> {
    let mut early = vec![false; messages.len()];
    let mut behind: Option<(usize, Option<u64>)> = None;
    let entries = messages.iter().zip(&mut early).rev();
    for ((after, entry), early) in entries {
        let here = (*after, entry.seen);
        if entry.dir == Direction::ToServer || behind.is_some_and(|behind| behind != here) {
            behind = None;
        }
        if entry.early {
            behind = Some(here);
        }
        *early = behind.is_some();
    }
    early
}

impl Timeline {
    /// The position of something outside the exchanges, in a cassette without times.
    pub(super) fn course_beside(&mut self, from: Direction, seen: Option<u64>) -> Option<Offset> {
        let untimed = self.untimed.as_mut()?;
        Some(Offset(untimed.course.beside(from, seen)))
    }

    /// The position of the next request, in a cassette without times.
    pub(super) fn ask(&mut self) -> Option<(Offset, Step)> {
        let (at, step) = self.untimed.as_mut()?.course.ask();
        Some((Offset(at), step))
    }

    /// Delays an event of an HTTP exchange until it is known what else crossed there.
    pub(super) fn wait(&mut self, dir: Direction, place: Where, body: EventBody, until: Until) {
        let event = event(dir, Offset::default(), place, body);
        if let Some(untimed) = &mut self.untimed {
            untimed.waiting.push((until, event));
        }
    }

    /// Adds the events that wait until everything else is known.
    pub(super) fn push_ends(&mut self) {
        let Some(untimed) = &mut self.untimed else {
            return;
        };
        for (until, mut event) in std::mem::take(&mut untimed.waiting) {
            let conduit = untimed.conduits.get(&event.conduit).copied();
            let (said, over) = conduit.unwrap_or_default();
            let session = untimed.sessions.get(&event.session).copied();
            let (first, last) = session.unwrap_or_default();
            event.at = match until {
                Until::Said => said,
                Until::Over => over,
                // Before the first message, which is never at 0.
                Until::Began => Offset(first.0.saturating_sub(1)),
                Until::Ended => last,
            };
            self.events.push(event);
        }
    }

    pub(super) fn note_session(&mut self, session: SessionKey, at: Offset) {
        if let Some(untimed) = &mut self.untimed {
            let (first, last) = untimed.sessions.entry(session).or_insert((at, at));
            *first = at.min(*first);
            *last = at.max(*last);
        }
    }

    pub(super) fn note_conduit(&mut self, conduit: ConduitId, dir: Direction, at: Offset) {
        if let Some(untimed) = &mut self.untimed {
            let (said, over) = untimed.conduits.entry(conduit).or_insert((at, at));
            *over = at.max(*over);
            if dir == Direction::ToServer {
                *said = at.max(*said);
            }
        }
    }
}
