//! The usual case, in few steps: ids that count up, and each is answered once.

use super::{Handle, IdKey, Pairing, Request};
use crate::event::{Direction, Scope};

impl Pairing<()> {
    /// Takes a request whose id is one more than the last integer of its side, if [`ask`](Self::ask) would return nothing
    /// but its handle and nothing of its side was forgotten. Otherwise it changes nothing.
    pub(in crate::conversation) fn ask_next(
        &mut self,
        scope: Scope,
        dir: Direction,
        id: i64,
    ) -> Option<Handle> {
        let has_room = self.remembers && self.flight.len() < self.limit;
        let side = self.scopes.get_mut(scope, dir).filter(|_| has_room)?;
        let key = IdKey::Integer(id);
        if side.forgot || side.forgot_used || side.find(key).is_some() || !side.used.goes_on(id) {
            return None;
        }
        let request = Request {
            scope,
            dir,
            id: key,
            token: None,
            cancelled: false,
            listed: true,
            value: (),
        };
        let handle = self.flight.push(request, &mut side.waiting);
        side.count += 1;
        side.put(key, handle.place);
        Some(handle)
    }

    /// Takes a response that travels this way, if its id is that of one request only and `expected` accepts that request;
    /// otherwise it changes nothing.
    pub(in crate::conversation) fn answer_if(
        &mut self,
        scope: Scope,
        dir: Direction,
        id: i64,
        expected: impl FnOnce(Handle) -> bool,
    ) -> Option<Handle> {
        if !self.reused.is_empty() || !self.tokens.is_empty() {
            return None;
        }
        let side = self.scopes.get_mut(scope, dir.opposite())?;
        let key = IdKey::Integer(id);
        let handle = self.flight.handle(side.find(key)?);
        let handle = handle.filter(|handle| expected(*handle))?;
        side.take(key);
        side.count -= 1;
        self.flight.discard(handle.place, &mut side.waiting)
    }
}
