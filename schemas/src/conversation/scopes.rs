//! Where ids mean something, and what is known of each such place.

use std::collections::{HashMap, VecDeque};

use foldhash::quality::RandomState;

use super::IdKey;
use super::flight::Ends;
use super::used::Runs;
use super::window::Window;
use crate::event::{Direction, Scope};

/// The scopes in which there were requests.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    known: HashMap<Scope, [Side; 2], RandomState>,
    // By age, so that those in which nothing is in flight can be dropped.
    ages: VecDeque<Scope>,
    // Of integers that were used, in all scopes.
    runs: usize,
    dropped: bool,
}

/// The requests of one direction in a scope.
#[derive(Debug, Default)]
pub(super) struct Side {
    window: Window,
    others: HashMap<IdKey, u32, RandomState>,
    /// Those that have an id and were not cancelled.
    pub(super) waiting: Ends,
    /// How many are in flight.
    pub(super) count: usize,
    pub(super) used: Runs,
    /// A request was forgotten while it was in flight.
    pub(super) forgot: bool,
    /// That an id was used may be forgotten.
    pub(super) forgot_used: bool,
}

/// How many scopes are known in which nothing is in flight, about.
const IDLE: usize = 4_096;

impl Scopes {
    pub(super) fn get(&self, scope: Scope, dir: Direction) -> Option<&Side> {
        let [to_server, to_client] = self.known.get(&scope)?;
        Some(match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        })
    }

    pub(super) fn get_mut(&mut self, scope: Scope, dir: Direction) -> Option<&mut Side> {
        self.known.get_mut(&scope).map(|sides| pick(sides, dir))
    }

    /// Knows a scope from here on, and drops an old one in which nothing happens.
    pub(super) fn enter(&mut self, scope: Scope, dir: Direction) -> &mut Side {
        if !self.known.contains_key(&scope) {
            if self.known.len() >= IDLE {
                self.drop_oldest();
            }
            self.ages.push_back(scope);
            if self.ages.len() > 2 * (IDLE + self.known.len()) {
                let known = &self.known;
                self.ages
                    .retain(|one| *one == scope || known.contains_key(one));
            }
        }
        pick(self.known.entry(scope).or_default(), dir)
    }

    /// An integer is used.
    pub(super) fn remember(&mut self, scope: Scope, dir: Direction, id: i64) {
        let runs = self.runs;
        let side = self.enter(scope, dir);
        let before = side.used.len();
        side.forgot_used |= !side.used.insert(id, runs);
        let after = side.used.len();
        self.runs = self.runs + after - before;
    }

    pub(super) fn drop_scope(&mut self, scope: Scope) {
        if let Some(sides) = self.known.remove(&scope) {
            self.runs -= sides.iter().map(|side| side.used.len()).sum::<usize>();
        }
    }

    /// Whether a scope that is not known may have been.
    pub(super) fn has_dropped(&self) -> bool {
        self.dropped
    }

    /// The first request of each id of a scope.
    pub(super) fn firsts(&self, scope: Scope) -> Vec<u32> {
        let sides = self.known.get(&scope).into_iter().flatten();
        sides.flat_map(Side::firsts).collect()
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.ages.pop_front() else {
            return;
        };
        match self.known.get(&oldest) {
            Some(sides) if sides.iter().any(|side| side.count > 0) => self.ages.push_back(oldest),
            Some(_) => {
                self.dropped = true;
                self.drop_scope(oldest);
            }
            None => {}
        }
    }
}

impl Side {
    pub(super) fn find(&self, id: IdKey) -> Option<u32> {
        if let IdKey::Integer(number) = id
            && let Some(place) = self.window.get(number)
        {
            return Some(place);
        }
        self.others.get(&id).copied()
    }

    pub(super) fn put(&mut self, id: IdKey, place: u32) {
        let entered = match id {
            IdKey::Integer(number) => self.window.put(number, place),
            _ => false,
        };
        if !entered {
            self.others.insert(id, place);
        }
    }

    pub(super) fn remove(&mut self, id: IdKey) {
        let removed = match id {
            IdKey::Integer(number) => self.window.remove(number),
            _ => false,
        };
        if !removed {
            self.others.remove(&id);
        }
    }

    fn firsts(&self) -> impl Iterator<Item = u32> {
        self.window.iter().chain(self.others.values().copied())
    }
}

fn pick([to_server, to_client]: &mut [Side; 2], dir: Direction) -> &mut Side {
    match dir {
        Direction::ToServer => to_server,
        Direction::ToClient => to_client,
    }
}
