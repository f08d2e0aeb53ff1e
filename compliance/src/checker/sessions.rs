//! The sessions in progress.

use std::collections::HashMap;

use tapewright_schemas::event::{ConduitId, SessionKey};
use tapewright_schemas::order::Order as _;

use crate::session::Session;

/// Identifies a session; without a session, each exchange is separate.
pub(super) type Name = (SessionKey, ConduitId);

/// The sessions in progress, with fast access to the one that was used last.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    // With the time at which each was last used.
    all: HashMap<Name, (u64, Box<Session>)>,
    last: Option<(Name, Box<Session>)>,
    turn: u64,
    /// The latest exchange without a session that was forgotten.
    pub(super) forgotten: Option<ConduitId>,
}

/// The maximum number of sessions that are followed at once: a gateway's clients leave without
/// notice.
const MOST: usize = 2_048;
/// The number of sessions that remain when room is made.
const KEPT: usize = 1_536;

impl Sessions {
    /// The session with this name, created if missing.
    pub(super) fn get(&mut self, name: Name, make: impl FnOnce() -> Session) -> &mut Session {
        if self.last.as_ref().is_none_or(|(last, _)| *last != name) {
            let next = self.all.remove(&name).map(|(_, session)| session);
            let next = next.unwrap_or_else(|| Box::new(make()));
            if let Some((name, session)) = self.last.replace((name, next)) {
                self.turn += 1;
                self.all.insert(name, (self.turn, session));
            }
        }
        let slot = self.last.as_mut().map(|(_, session)| session);
        slot.expect("it was put there")
    }

    /// Whether the session of a pipe was used last.
    pub(super) fn is_last(&self, key: SessionKey) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|(name, _)| *name == (key, ConduitId(0)))
    }

    /// The session that was used last.
    pub(super) fn last_mut(&mut self) -> Option<&mut Session> {
        self.last.as_mut().map(|(_, session)| &mut **session)
    }

    pub(super) fn remove(&mut self, name: Name) -> Option<Box<Session>> {
        match self.last.take() {
            Some((last, session)) if last == name => return Some(session),
            other => self.last = other,
        }
        self.all.remove(&name).map(|(_, session)| session)
    }

    pub(super) fn each(&mut self, mut change: impl FnMut(&mut Session)) {
        let last = self.last.as_mut().map(|(_, session)| session);
        let all = self.all.values_mut().map(|(_, session)| session);
        all.chain(last).for_each(|session| change(session));
    }

    /// Whether there are more than are followed.
    pub(super) fn is_full(&self) -> bool {
        self.all.len() >= MOST
    }

    /// Removes those that have been silent for longest.
    pub(super) fn evict(&mut self) -> impl Iterator<Item = Box<Session>> + use<> {
        let mut turns: Vec<u64> = self.all.values().map(|(turn, _)| *turn).collect();
        turns.sort_unstable();
        let count = turns.len().saturating_sub(KEPT);
        let first_kept = turns.get(count).copied().unwrap_or_default();
        let silent = self.all.extract_if(|_, (turn, _)| *turn < first_kept);
        let mut silent: Vec<_> = silent.collect();
        silent.order_by_key(|(name, _)| *name);
        let sessionless = silent.iter().filter(|((key, _), _)| *key == SessionKey(0));
        let latest = sessionless.map(|((_, conduit), _)| *conduit).max();
        self.forgotten = self.forgotten.max(latest);
        silent.into_iter().map(|(_, (_, session))| session)
    }

    /// All sessions, in the order of their names.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Box<Session>> + use<> {
        let all = self.all.drain().map(|(name, (_, session))| (name, session));
        let mut all: Vec<_> = all.chain(self.last.take()).collect();
        all.order_by_key(|(name, _)| *name);
        all.into_iter().map(|(_, session)| session)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len() + usize::from(self.last.is_some())
    }
}
