//! Scopes, where ids are valid, and the state of each.

use std::collections::{HashMap, VecDeque};

use foldhash::quality::RandomState;

use super::IdKey;
use super::flight::Ends;
use super::used::{Runs, Used};
use super::window::Window;
use crate::event::{Direction, Scope};

/// The scopes in which there were requests.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    known: HashMap<Scope, usize, RandomState>,
    sides: Vec<[Side; 2]>,
    free: Vec<usize>,
    // The next message nearly always has the same scope as the one before: no need to search.
    last: Option<(Scope, usize)>,
    // By age, so that idle ones can be dropped.
    ages: VecDeque<Scope>,
    // The number of runs of used integers, in all scopes.
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
    /// The number in flight.
    pub(super) count: usize,
    pub(super) used: Runs,
    /// A request was forgotten while it was in flight.
    pub(super) forgot: bool,
    /// Some used ids may have been forgotten.
    pub(super) forgot_used: bool,
}

/// The approximate number of idle scopes that are kept.
const IDLE: usize = 4_096;

impl Scopes {
    pub(super) fn get(&self, scope: Scope, dir: Direction) -> Option<&Side> {
        let [to_server, to_client] = self.sides.get(self.place(scope)?)?;
        Some(match dir {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        })
    }

    #[inline]
    pub(super) fn get_mut(&mut self, scope: Scope, dir: Direction) -> Option<&mut Side> {
        let place = self.place(scope)?;
        self.last = Some((scope, place));
        self.sides.get_mut(place).map(|sides| pick(sides, dir))
    }

    /// Knows a scope from here on, and drops an old one in which nothing happens.
    #[inline]
    pub(super) fn enter(&mut self, scope: Scope, dir: Direction) -> &mut Side {
        let place = match self.last {
            Some((last, place)) if last == scope => place,
            _ => self.turn_to(scope),
        };
        let sides = self.sides.get_mut(place);
        pick(sides.expect("every known scope has its sides"), dir)
    }

    /// The next messages are of this scope.
    fn turn_to(&mut self, scope: Scope) -> usize {
        let known = self.known.get(&scope).copied();
        let place = known.unwrap_or_else(|| self.begin(scope));
        self.last = Some((scope, place));
        place
    }

    #[inline]
    fn place(&self, scope: Scope) -> Option<usize> {
        match self.last {
            Some((last, place)) if last == scope => Some(place),
            _ => self.known.get(&scope).copied(),
        }
    }

    fn begin(&mut self, scope: Scope) -> usize {
        if self.known.len() >= IDLE {
            self.drop_oldest();
        }
        self.ages.push_back(scope);
        if self.ages.len() > 2 * (IDLE + self.known.len()) {
            let known = &self.known;
            self.ages
                .retain(|one| *one == scope || known.contains_key(one));
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.sides.push(<[Side; 2]>::default());
            self.sides.len() - 1
        });
        self.known.insert(scope, place);
        place
    }

    /// An integer is used; whether it was before.
    pub(super) fn remember(&mut self, scope: Scope, dir: Direction, id: i64) -> bool {
        let runs = self.runs;
        let side = self.enter(scope, dir);
        let before = side.used.len();
        let used = side.used.insert(id, runs);
        side.forgot_used |= used == Used::NoRoom;
        let after = side.used.len();
        self.runs = self.runs + after - before;
        used == Used::Again
    }

    pub(super) fn drop_scope(&mut self, scope: Scope) {
        let Some(place) = self.known.remove(&scope) else {
            return;
        };
        self.last = None;
        self.free.push(place);
        if let Some(sides) = self.sides.get_mut(place).map(std::mem::take) {
            self.runs -= sides.iter().map(|side| side.used.len()).sum::<usize>();
        }
    }

    /// Whether an unknown scope may have existed before.
    pub(super) fn has_dropped(&self) -> bool {
        self.dropped
    }

    /// The first request of each id of a scope.
    pub(super) fn firsts(&self, scope: Scope) -> Vec<u32> {
        let place = self.place(scope);
        let sides = place.and_then(|place| self.sides.get(place));
        sides.into_iter().flatten().flat_map(Side::firsts).collect()
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.ages.pop_front() else {
            return;
        };
        let place = self.place(oldest);
        match place.and_then(|place| self.sides.get(place)) {
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
    #[inline]
    pub(super) fn find(&self, id: IdKey) -> Option<u32> {
        if let IdKey::Integer(number) = id
            && let Some(place) = self.window.get(number)
        {
            return Some(place);
        }
        self.others.get(&id).copied()
    }

    #[inline]
    pub(super) fn put(&mut self, id: IdKey, place: u32) {
        let entered = match id {
            IdKey::Integer(number) => self.window.put(number, place),
            _ => false,
        };
        if !entered {
            self.others.insert(id, place);
        }
    }

    /// Removes an id, and returns the place of its first request.
    #[inline]
    pub(super) fn take(&mut self, id: IdKey) -> Option<u32> {
        if let IdKey::Integer(number) = id
            && let Some(place) = self.window.take(number)
        {
            return Some(place);
        }
        self.others.remove(&id)
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
