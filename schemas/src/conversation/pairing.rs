//! Requests in flight, and their answers.

mod answers;
mod next;
mod removal;

use std::collections::{HashMap, VecDeque};

use foldhash::quality::RandomState;

use super::IdKey;
use super::flight::{Flight, Handle, Request};
use super::paired::Registered;
use super::scopes::Scopes;
use super::used::{Others, Whole};
use crate::envelope::RequestId;
use crate::event::{Direction, Scope};

/// The requests in flight, each with a user-defined `T`.
///
/// When an id is used again while its first request is still pending, the first answer is for the
/// first request. Answers without an id, or with `null`, are for requests without one.
///
/// A request that was cancelled stays in flight, since its answer may be on its way. When its id is
/// used again, answers go to the new request first: a receiver should not answer a cancelled
/// request (MCP, basic/utilities/cancellation), and the sender that reused the id is not waiting
/// for that answer either. An answer only pairs with the cancelled request if no other request with
/// the id is waiting.
///
/// # Bounded memory
///
/// Of more than 65,536 requests in flight, or 1,024 with the same id, the oldest is forgotten and
/// returned. Used ids are remembered too: integers as runs, and the last 65,536 of the others.
#[derive(Debug)]
pub struct Pairing<T> {
    flight: Flight<T>,
    scopes: Scopes,
    // For ids that are reused while in flight: all requests but the first.
    reused: HashMap<Whole, VecDeque<u32>, RandomState>,
    tokens: HashMap<Whole, Handle, RandomState>,
    others: Others,
    limit: usize,
    remembers: bool,
    by_value: bool,
    forgotten: u64,
}

/// The maximum number of requests that are followed at once.
const LIMIT: usize = 65_536;
/// The maximum number of them with the same id.
const SHARED: usize = 1_024;

impl<T> Default for Pairing<T> {
    fn default() -> Self {
        Self {
            flight: Flight::default(),
            scopes: Scopes::default(),
            reused: HashMap::default(),
            tokens: HashMap::default(),
            others: Others::default(),
            limit: LIMIT,
            remembers: true,
            by_value: false,
            forgotten: 0,
        }
    }
}

impl<T> Pairing<T> {
    /// Only remembers requests in flight: a second answer is an orphan.
    #[must_use]
    pub fn without_memory() -> Self {
        Self {
            remembers: false,
            ..Self::default()
        }
    }

    /// Compares ids by value: `2`, `2.0` and `2e0` are one id, and `"2"` is another.
    #[must_use]
    pub fn by_value(mut self) -> Self {
        self.by_value = true;
        self
    }

    /// Does not track the [`latest`](Self::latest) request.
    #[must_use]
    pub(super) fn without_latest(mut self) -> Self {
        self.flight.by_side = false;
        self
    }

    /// An id in its comparable form.
    #[must_use]
    pub fn key(&self, id: &RequestId<'_>) -> IdKey {
        if self.by_value {
            IdKey::by_value(id)
        } else {
            IdKey::exact(id)
        }
    }

    /// Sets how many requests are followed at once.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit.clamp(1, LIMIT);
        self
    }

    /// Takes a request that travels this way.
    pub fn ask(
        &mut self,
        scope: Scope,
        dir: Direction,
        id: impl Into<IdKey>,
        value: T,
    ) -> Registered<T> {
        let id = id.into();
        let again = self.remember((scope, dir, id));
        let request = Request {
            scope,
            dir,
            id,
            token: None,
            cancelled: false,
            listed: true,
            value,
        };
        let side = self.scopes.enter(scope, dir);
        let first = side.find(id);
        let handle = self.flight.push(request, &mut side.waiting);
        side.count += 1;
        let mut forgotten = None;
        let mut before = first;
        if let Some(first) = first {
            let shared = self.reused.entry((scope, dir, id)).or_default();
            before = shared.back().copied().or(before);
            shared.push_back(handle.place);
            if shared.len() >= SHARED {
                forgotten = self.forget_place(first);
            }
        } else {
            side.put(id, handle.place);
        }
        if self.flight.len() > self.limit {
            forgotten = self.forget_oldest();
        }
        Registered {
            handle,
            reuses: before.and_then(|before| self.flight.handle(before)),
            again,
            forgotten,
        }
    }

    /// Handles a cancellation in the direction of its request, and returns the request, which stays
    /// in flight: of several with this id, the first that is not cancelled yet.
    pub fn cancel(&mut self, scope: Scope, dir: Direction, id: impl Into<IdKey>) -> Option<Handle> {
        let id = id.into();
        // Without an id it refers to no request.
        if id == IdKey::Null {
            return None;
        }
        let handle = self.flight.handle(self.first(scope, dir, id)?)?;
        self.give_up(handle);
        Some(handle)
    }

    /// Marks a request as cancelled: its sender is no longer waiting, for whatever reason.
    pub fn give_up(&mut self, handle: Handle) {
        let place = self.flight.place(handle);
        let Some(request) = place.and_then(|place| self.flight.get_mut(place)) else {
            return;
        };
        request.cancelled = true;
        let (scope, dir) = (request.scope, request.dir);
        let side = self.scopes.enter(scope, dir);
        self.flight.withdraw(handle.place, &mut side.waiting);
    }

    /// Whether a request was cancelled.
    #[must_use]
    pub fn is_cancelled(&self, handle: Handle) -> bool {
        self.request(handle).is_some_and(|one| one.cancelled)
    }

    /// The first request with an id in this direction.
    #[must_use]
    pub fn find(&self, scope: Scope, dir: Direction, id: impl Into<IdKey>) -> Option<Handle> {
        self.flight.handle(self.first(scope, dir, id.into())?)
    }

    /// The latest request of a scope in this direction that has an id and was not cancelled.
    #[must_use]
    pub fn latest(&self, scope: Scope, dir: Direction) -> Option<Handle> {
        let waiting = self.scopes.get(scope, dir)?.waiting;
        self.flight.handle(waiting.newest()?)
    }

    /// Sets the token under which a request asks for progress.
    pub fn set_token(&mut self, handle: Handle, token: impl Into<IdKey>) {
        let token = token.into();
        let place = self.flight.place(handle);
        if let Some(request) = place.and_then(|place| self.flight.get_mut(place)) {
            request.token = Some(token);
            self.tokens
                .insert((request.scope, request.dir, token), handle);
        }
    }

    /// The last request in this direction that asked for progress under a token.
    #[must_use]
    pub fn by_token(
        &self,
        scope: Scope,
        dir: Direction,
        token: impl Into<IdKey>,
    ) -> Option<Handle> {
        self.tokens.get(&(scope, dir, token.into())).copied()
    }

    /// The value of a request in flight.
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        self.request(handle).map(|request| &request.value)
    }

    /// The value of a request in flight.
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let place = self.flight.place(handle)?;
        Some(&mut self.flight.get_mut(place)?.value)
    }

    /// The requests in flight, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        let all = self.flight.iter();
        all.map(|(handle, request)| (handle, &request.value))
    }

    /// The number of requests in flight in this direction.
    #[must_use]
    pub fn count(&self, dir: Direction) -> usize {
        self.flight.count(dir)
    }

    /// The number of requests in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.flight.len()
    }

    /// Whether nothing is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.flight.len() == 0
    }

    /// The number of requests that were forgotten while in flight.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Whether a request with this id was sent in this direction.
    #[must_use]
    pub fn knows(&self, scope: Scope, dir: Direction, id: impl Into<IdKey>) -> bool {
        match id.into() {
            IdKey::Integer(id) => {
                let side = self.scopes.get(scope, dir);
                side.is_some_and(|side| side.used.contains(id))
            }
            id => self.others.contains(&(scope, dir, id)),
        }
    }

    /// Whether a request in this direction may have been forgotten.
    #[must_use]
    pub fn has_forgotten(&self, scope: Scope, dir: Direction) -> bool {
        match self.scopes.get(scope, dir) {
            Some(side) => side.forgot || side.forgot_used,
            None => self.scopes.has_dropped(),
        }
    }

    fn request(&self, handle: Handle) -> Option<&Request<T>> {
        self.flight.get(self.flight.place(handle)?)
    }

    /// An id is used; whether it was before.
    fn remember(&mut self, whole: Whole) -> bool {
        let (scope, dir, id) = whole;
        if !self.remembers || id == IdKey::Null {
            return false;
        }
        if let IdKey::Integer(id) = id {
            let side = self.scopes.enter(scope, dir);
            return !side.used.goes_on(id) && self.scopes.remember(scope, dir, id);
        }
        let scopes = &mut self.scopes;
        self.others.insert(whole, |(scope, dir, _)| {
            if let Some(side) = scopes.get_mut(*scope, *dir) {
                side.forgot_used = true;
            }
        })
    }
}
