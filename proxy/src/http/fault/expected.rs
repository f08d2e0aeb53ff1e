//! Chosen requests whose answers are expected anywhere in their session.
//!
//! On 2024-11-05 answers come on the stream that carries the session, and from 2025-03-26 a client
//! may fetch a missed answer on another stream than that of its request.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tapewright_schemas::conversation::{Handle, Pairing};
use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::event::{ConduitId, Direction, Scope, SessionKey};

use super::MatchedFault;
use crate::http::sessions::SESSIONLESS;

/// Chosen requests without an answer so far.
#[derive(Debug)]
pub(crate) struct Expected {
    count: AtomicUsize,
    known: Mutex<Pairing<MatchedFault>>,
}

impl Default for Expected {
    fn default() -> Self {
        Self {
            count: AtomicUsize::new(0),
            known: Mutex::new(Pairing::without_memory()),
        }
    }
}

impl Expected {
    /// Expects the answer to a request in this direction; the returned handle can withdraw it.
    pub(crate) fn add(
        &self,
        session: SessionKey,
        dir: Direction,
        aimed: &MatchedFault,
    ) -> Option<Handle> {
        // Sessionless requests are identified by their exchange alone: their ids are not unique.
        if session == SESSIONLESS {
            return None;
        }
        let id = RequestId::of_source(&aimed.id);
        let mut known = self.lock();
        let asked = known.ask(scope(session), dir, &id, aimed.clone());
        self.count.store(known.len(), Ordering::Relaxed);
        Some(asked.handle)
    }

    /// The fault that acts on the answer to this request, if none has done so.
    pub(crate) fn take(
        &self,
        session: SessionKey,
        dir: Direction,
        id: &RequestId<'_>,
    ) -> Option<MatchedFault> {
        self.change(|known| known.take(scope(session), dir, id))
            .filter(MatchedFault::spend)
    }

    /// Withdraws a request that was answered on its own exchange. Another one with the same id in
    /// flight is still expected.
    pub(crate) fn withdraw(&self, asked: Handle) {
        drop(self.change(|known| known.remove(asked)));
    }

    /// Forgets a session that is over.
    pub(crate) fn forget(&self, session: SessionKey) {
        self.change(|known| {
            known.forget(scope(session));
            None
        });
    }

    /// Costs one load while nothing is expected.
    fn change(
        &self,
        change: impl FnOnce(&mut Pairing<MatchedFault>) -> Option<MatchedFault>,
    ) -> Option<MatchedFault> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut known = self.lock();
        let found = change(&mut known);
        self.count.store(known.len(), Ordering::Relaxed);
        found
    }

    fn lock(&self) -> MutexGuard<'_, Pairing<MatchedFault>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn scope(session: SessionKey) -> Scope {
    Scope {
        session,
        exchange: ConduitId(0),
    }
}
