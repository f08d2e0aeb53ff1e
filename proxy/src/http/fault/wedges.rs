//! Silent sessions, which answer nothing any more.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tapewright_engine::fault::FaultSet;
use tapewright_engine::policy::{Hold, Ticket};
use tapewright_schemas::event::{Offset, SessionKey};
use tokio::sync::watch;

use crate::http::sessions::SESSIONLESS;

/// What falls silent together: a session, or the sessionless traffic of one connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wedged {
    Connection(u64),
    Session(SessionKey),
}

impl Wedged {
    pub(crate) fn of(session: Option<SessionKey>, connection: u64) -> Self {
        match session {
            Some(session) if session != SESSIONLESS => Self::Session(session),
            _ => Self::Connection(connection),
        }
    }
}

/// The maximum number of silent sessions.
const MOST: usize = 4_096;

/// The silent sessions, and until when: each has a share of a ticket, as has everything that waits
/// for it, so that all of them see how it ends.
#[derive(Debug, Default)]
pub(crate) struct Wedges {
    held: Mutex<HashMap<Wedged, Ticket>>,
    // Notifies when a session falls silent.
    silenced: watch::Sender<()>,
}

/// Completes when a session has fallen silent.
pub(super) type Silenced = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Wedges {
    /// Silences a session; returns false if too many are silent already.
    pub(super) fn add(&self, talk: Wedged, ticket: Ticket, fault_set: &FaultSet) -> bool {
        let mut wedges = self.lock();
        let fits = wedges.len() < MOST || wedges.contains_key(&talk);
        if fits
            && fault_set.share(ticket)
            && let Some(old) = wedges.insert(talk, ticket)
        {
            fault_set.give_back(old);
        }
        self.silenced.send_replace(());
        fits
    }

    /// Waits for the next session that falls silent: a stream without traffic must be cut as well.
    pub(super) fn silenced(&self) -> Silenced {
        let mut silenced = self.silenced.subscribe();
        Box::pin(async move {
            // They live as long as the gateway.
            silenced.changed().await.ok();
        })
    }

    /// The ticket that a session waits for.
    pub(super) fn held(&self, talk: &Wedged, fault_set: &FaultSet, now: Offset) -> Option<Ticket> {
        let mut wedges = self.lock();
        wedges.retain(|_, ticket| {
            let lasts = matches!(fault_set.hold(now, *ticket), Hold::Lasting | Hold::Passing);
            if !lasts {
                fault_set.give_back(*ticket);
            }
            lasts
        });
        wedges.get(talk).copied()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Wedged, Ticket>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
