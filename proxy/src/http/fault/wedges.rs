//! Which sessions answer nothing any more.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tapewright_engine::fault::FaultSet;
use tapewright_engine::policy::{Hold, Ticket};
use tapewright_schemas::event::{Offset, SessionKey};
use tokio::sync::watch;

use crate::http::sessions::SESSIONLESS;

/// What is wedged together: a session, or what comes on one connection without one.
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

/// How many sessions can be wedged at once.
const MOST: usize = 4_096;

/// The sessions that answer nothing any more, and until when: each has a share of a ticket,
/// and so has everything that waits for it, so that all of them see how it ends.
#[derive(Debug, Default)]
pub(crate) struct Wedges {
    held: Mutex<HashMap<Wedged, Ticket>>,
    // Changes with each session that falls silent.
    silenced: watch::Sender<()>,
}

/// Done once a session has fallen silent.
pub(super) type Silenced = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Wedges {
    /// Wedges a session; false when too many are wedged already.
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

    /// Waits for the next session that falls silent: also a stream on which nothing comes is
    /// to be cut with it.
    pub(super) fn silenced(&self) -> Silenced {
        let mut silenced = self.silenced.subscribe();
        Box::pin(async move {
            // They are as old as the gateway.
            silenced.changed().await.ok();
        })
    }

    /// What a session waits for.
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
