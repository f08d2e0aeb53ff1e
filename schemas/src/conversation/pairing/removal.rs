//! Removes requests that were answered, and forgets those that were not.

use super::{Handle, Pairing, Request};
use crate::event::Scope;

impl<T> Pairing<T> {
    /// Takes a request out, answered or not.
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        self.remove_place(self.flight.place(handle)?)
    }

    /// Forgets the oldest request: its answer may still come.
    pub fn forget_oldest(&mut self) -> Option<(Handle, T)> {
        self.forget_place(self.flight.oldest()?)
    }

    /// Forgets a request: its answer may still come.
    pub fn forget_one(&mut self, handle: Handle) -> Option<T> {
        let place = self.flight.place(handle)?;
        self.forget_place(place).map(|(_, value)| value)
    }

    /// Ends a scope; returns the values of its requests in flight.
    pub fn forget(&mut self, scope: Scope) -> Vec<T> {
        let firsts = self.scopes.firsts(scope);
        let mut places = firsts.clone();
        for request in firsts.iter().filter_map(|first| self.flight.get(*first)) {
            let shared = self.reused.get(&(scope, request.dir, request.id));
            places.extend(shared.into_iter().flatten());
        }
        let mut handles: Vec<_> = places
            .into_iter()
            .filter_map(|place| self.flight.handle(place))
            .collect();
        handles.sort_unstable();
        let values = handles
            .into_iter()
            .filter_map(|handle| self.remove(handle))
            .collect();
        self.scopes.drop_scope(scope);
        values
    }

    pub(super) fn forget_place(&mut self, place: u32) -> Option<(Handle, T)> {
        let handle = self.flight.handle(place)?;
        let request = self.flight.get(place)?;
        let (scope, dir) = (request.scope, request.dir);
        self.forgotten += 1;
        self.scopes.enter(scope, dir).forgot = true;
        Some((handle, self.remove_place(place)?))
    }

    pub(super) fn remove_place(&mut self, place: u32) -> Option<T> {
        self.unlist(place);
        let request = self.flight.get(place)?;
        let (scope, dir) = (request.scope, request.dir);
        let handle = self.flight.handle(place)?;
        let side = self.scopes.enter(scope, dir);
        let request = self.flight.remove(place, &mut side.waiting)?;
        side.count -= 1;
        self.forget_token(handle, &request);
        Some(request.value)
    }

    /// Removes the progress token of a request that is no longer in flight.
    pub(super) fn forget_token(&mut self, handle: Handle, request: &Request<T>) {
        let Some(token) = request.token else { return };
        let whole = (request.scope, request.dir, token);
        if self.tokens.get(&whole) == Some(&handle) {
            self.tokens.remove(&whole);
        }
    }

    /// No id finds this request any more.
    pub(super) fn unlist(&mut self, place: u32) {
        let request = self.flight.get_mut(place).filter(|one| one.listed);
        let Some(request) = request else {
            return;
        };
        request.listed = false;
        let whole @ (scope, dir, id) = (request.scope, request.dir, request.id);
        let side = self.scopes.enter(scope, dir);
        self.flight.withdraw(place, &mut side.waiting);
        let is_first = side.find(id) == Some(place);
        if is_first {
            side.take(id);
        }
        if !self.reused.is_empty()
            && let Some(shared) = self.reused.get_mut(&whole)
        {
            if !is_first {
                shared.retain(|one| *one != place);
            } else if let Some(next) = shared.pop_front() {
                side.put(id, next);
            }
            if shared.is_empty() {
                self.reused.remove(&whole);
            }
        }
    }
}
