//! Answers: the request that each is for, and what it does if there is none.

use super::{Handle, IdKey, Pairing, Request};
use crate::conversation::paired::Answer;
use crate::envelope::RequestId;
use crate::event::{Direction, Scope};

impl<T> Pairing<T> {
    /// Takes a response that travels this way.
    pub fn answer(&mut self, scope: Scope, dir: Direction, id: &RequestId<'_>) -> Answer<T> {
        let key = self.key(id);
        if let Some((handle, request)) = self.take_only(scope, dir.opposite(), key) {
            return Answer::Pairs(handle, request.value);
        }
        match self.seek(scope, dir, id, key) {
            Ok(handle) => match self.remove(handle) {
                Some(value) => Answer::Pairs(handle, value),
                None => Answer::Orphan,
            },
            Err(answer) => answer,
        }
    }

    /// Like [`answer`](Self::answer), if the [key](Self::key) of its id is known and requests have
    /// no values.
    pub(in crate::conversation) fn answer_as(
        &mut self,
        scope: Scope,
        dir: Direction,
        id: &RequestId<'_>,
        key: IdKey,
    ) -> Answer<()> {
        if let Some(handle) = self.discard_only(scope, dir.opposite(), key) {
            return Answer::Pairs(handle, ());
        }
        match self.seek(scope, dir, id, key) {
            Ok(handle) => {
                self.remove_place(handle.place);
                Answer::Pairs(handle, ())
            }
            Err(answer) => answer,
        }
    }

    /// Removes the request with an id that is not shared by several, which is the usual case.
    fn take_only(
        &mut self,
        scope: Scope,
        dir: Direction,
        key: IdKey,
    ) -> Option<(Handle, Request<T>)> {
        if !self.reused.is_empty() {
            return None;
        }
        let side = self.scopes.get_mut(scope, dir)?;
        let place = side.take(key)?;
        let handle = self.flight.handle(place)?;
        let request = self.flight.remove(place, &mut side.waiting)?;
        side.count -= 1;
        self.forget_token(handle, &request);
        Some((handle, request))
    }

    /// Like [`take_only`](Self::take_only), but drops the request; only while no request has a token.
    fn discard_only(&mut self, scope: Scope, dir: Direction, key: IdKey) -> Option<Handle> {
        if !self.reused.is_empty() || !self.tokens.is_empty() {
            return None;
        }
        let side = self.scopes.get_mut(scope, dir)?;
        let place = side.take(key)?;
        let handle = self.flight.discard(place, &mut side.waiting)?;
        side.count -= 1;
        Some(handle)
    }

    /// Like [`answer`](Self::answer), but the request remains accessible by its handle, and no
    /// longer by its id.
    pub fn meet(&mut self, scope: Scope, dir: Direction, id: &RequestId<'_>) -> Answer<()> {
        match self.seek(scope, dir, id, self.key(id)) {
            Ok(handle) => {
                self.unlist(handle.place);
                Answer::Pairs(handle, ())
            }
            Err(answer) => answer,
        }
    }

    /// Makes an answered request accessible by its id again, as the first with that id: its sender
    /// is still waiting.
    pub fn restore(&mut self, handle: Handle) {
        let Some((place, request)) = self.flight.place(handle).and_then(|place| {
            let request = self.flight.get_mut(place)?;
            Some((place, request))
        }) else {
            return;
        };
        request.listed = true;
        let whole @ (scope, dir, id) = (request.scope, request.dir, request.id);
        let side = self.scopes.enter(scope, dir);
        if let Some(first) = side.find(id) {
            side.take(id);
            self.reused.entry(whole).or_default().push_front(first);
        }
        side.put(id, place);
    }

    /// The request that a response answers, or what it does instead.
    fn seek<X>(
        &self,
        scope: Scope,
        dir: Direction,
        id: &RequestId<'_>,
        key: IdKey,
    ) -> Result<Handle, Answer<X>> {
        let asked = dir.opposite();
        if let Some(handle) = self.find(scope, asked, key) {
            return Ok(handle);
        }
        if self.knows(scope, asked, key) {
            let side = self.scopes.get(scope, asked);
            let lost = side.is_some_and(|side| side.forgot);
            return Err(if lost {
                Answer::Forgotten
            } else {
                Answer::Duplicate
            });
        }
        let alike = IdKey::look_alike(id).and_then(|other| self.find(scope, asked, other));
        Err(match alike {
            Some(handle) => Answer::TypeChanged(handle),
            None if self.has_forgotten(scope, asked) => Answer::Forgotten,
            None => Answer::Orphan,
        })
    }

    /// Removes the first request with an id in this direction.
    pub fn take(&mut self, scope: Scope, dir: Direction, id: impl Into<IdKey>) -> Option<T> {
        let id = id.into();
        if let Some((_, request)) = self.take_only(scope, dir, id) {
            return Some(request.value);
        }
        let place = self.first(scope, dir, id)?;
        self.remove_place(place)
    }

    /// The request that an answer of this id is for: the first that was not cancelled, or else
    /// the first.
    pub(super) fn first(&self, scope: Scope, dir: Direction, id: IdKey) -> Option<u32> {
        let first = self.scopes.get(scope, dir)?.find(id)?;
        let is_open = |place: &u32| self.flight.get(*place).is_some_and(|one| !one.cancelled);
        if is_open(&first) {
            return Some(first);
        }
        let shared = self.reused.get(&(scope, dir, id));
        let mut others = shared.into_iter().flatten().copied();
        Some(others.find(is_open).unwrap_or(first))
    }
}
