//! Chosen requests whose answers are to come, wherever in their session that is.
//!
//! On 2024-11-05 answers come on the stream that carries the session, and from 2025-03-26
//! on a client may fetch one that it missed on another stream than that of its request.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tapewright_schemas::envelope::RequestId;
use tapewright_schemas::event::{Direction, SessionKey};

use super::Aimed;
use crate::http::sessions::LANE;

/// How many answers are expected at once: what would be one more is met only in the
/// response to its request.
const MOST: usize = 65_536;

/// A request: its session, which way it travelled, and its id.
type Key = (SessionKey, Direction, Vec<u8>);

/// Chosen requests that await their answer.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    count: AtomicUsize,
    known: Mutex<HashMap<Key, Aimed>>,
}

impl Expected {
    /// Expects the answer to a request that travelled this way.
    pub(crate) fn add(&self, session: SessionKey, dir: Direction, aimed: &Aimed) {
        // What belongs to no session is known by its exchange alone: ids of its requests
        // tell nothing.
        if session == LANE {
            return;
        }
        let mut known = self.lock();
        if known.len() < MOST {
            let key = (session, dir, key_of(&RequestId::of_source(&aimed.id)));
            known.insert(key, aimed.clone());
        }
        self.count.store(known.len(), Ordering::Relaxed);
    }

    /// The fault that acts on the answer to this request, if none has yet.
    pub(crate) fn take(
        &self,
        session: SessionKey,
        dir: Direction,
        id: &RequestId<'_>,
    ) -> Option<Aimed> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut known = self.lock();
        let found = known.remove(&(session, dir, key_of(id)));
        self.count.store(known.len(), Ordering::Relaxed);
        found.filter(Aimed::spend)
    }

    /// This request is answered where it was asked. Another one of the same id, which is in
    /// flight too, is still expected.
    pub(crate) fn withdraw(&self, session: SessionKey, dir: Direction, aimed: &Aimed) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let key = (session, dir, key_of(&RequestId::of_source(&aimed.id)));
        let mut known = self.lock();
        if known.get(&key).is_some_and(|one| one.is_same(aimed)) {
            known.remove(&key);
        }
        self.count.store(known.len(), Ordering::Relaxed);
    }

    /// A session is over.
    pub(crate) fn forget(&self, session: SessionKey) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut known = self.lock();
        known.retain(|(one, ..), _| *one != session);
        self.count.store(known.len(), Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Aimed>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(id: &RequestId<'_>) -> Vec<u8> {
    let mut key = Vec::new();
    id.write_key(&mut key);
    key
}
