//! Which sessions answer nothing any more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tapewright_engine::fault::Book;
use tapewright_engine::policy::Hold;
use tapewright_schemas::event::{Offset, SessionKey};

use super::hold::Held;
use crate::http::sessions::LANE;

/// What is wedged together: a session, or what comes on one connection without one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wedged {
    Connection(u64),
    Session(SessionKey),
}

impl Wedged {
    pub(crate) fn of(session: Option<SessionKey>, connection: u64) -> Self {
        match session {
            Some(session) if session != LANE => Self::Session(session),
            _ => Self::Connection(connection),
        }
    }
}

/// How many sessions can be wedged at once.
const MOST: usize = 4_096;

/// The sessions that answer nothing any more, and until when. Whoever waits for a wedge
/// holds it, so that all of them see how it ends.
#[derive(Debug, Default)]
pub(crate) struct Wedges(Mutex<HashMap<Wedged, Arc<Held>>>);

impl Wedges {
    /// Wedges a session; false when too many are wedged already.
    pub(crate) fn add(&self, talk: Wedged, held: &Arc<Held>) -> bool {
        let mut wedges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = wedges.len() < MOST || wedges.contains_key(&talk);
        if fits {
            wedges.insert(talk, Arc::clone(held));
        }
        fits
    }

    /// What a session waits for.
    pub(crate) fn held(&self, talk: &Wedged, book: &Book, now: Offset) -> Option<Arc<Held>> {
        let mut wedges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lasts = |hold| matches!(hold, Hold::Lasting | Hold::Passing);
        wedges.retain(|_, held| lasts(book.hold(now, held.ticket())));
        wedges.get(talk).map(Arc::clone)
    }

    /// A session answers again: the wedge has ended with a cut.
    pub(crate) fn remove(&self, talk: &Wedged, held: &Arc<Held>) {
        let mut wedges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wedges.get(talk).is_some_and(|one| Arc::ptr_eq(one, held)) {
            wedges.remove(talk);
        }
    }
}
