//! Applies the faults of a fault set to a lane.

use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::event::{ConduitId, Direction, Offset, SessionKey};

use super::conversation::Conversation;
use super::fault_set::FaultSet;
use crate::policy::{Decision, Hold, Holds, Message, Policy, Ticket};

/// The faults of a fault set, for one conversation.
///
/// Both lanes share the state of their conversation behind a lock, which is only taken while a
/// fault is active.
#[derive(Clone, Debug)]
pub struct FaultPolicy {
    fault_set: Arc<FaultSet>,
    session: SessionKey,
    shared: Arc<Mutex<Conversation>>,
}

impl FaultPolicy {
    /// A policy with the faults of a fault set.
    #[must_use]
    pub fn new(fault_set: Arc<FaultSet>) -> Self {
        Self {
            fault_set,
            session: SessionKey::default(),
            shared: Arc::default(),
        }
    }
}

impl Policy for FaultPolicy {
    fn is_idle(&self) -> bool {
        self.fault_set.is_idle()
    }

    fn decide(&mut self, now: Offset, dir: Direction, message: &Message<'_>) -> Decision {
        let conversation = self.shared.lock();
        let mut conversation = conversation.unwrap_or_else(PoisonError::into_inner);
        conversation.decide(&self.fault_set, self.session, now, dir, message)
    }

    fn for_conduit(&self, _conduit: ConduitId, session: SessionKey) -> Self {
        Self {
            session,
            ..Self::new(Arc::clone(&self.fault_set))
        }
    }
}

impl Holds for FaultPolicy {
    fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        self.fault_set.hold(now, ticket)
    }

    fn give_back(&self, ticket: Ticket) {
        self.fault_set.give_back(ticket);
    }

    fn changes(&self) -> u64 {
        self.fault_set.changes()
    }

    fn due(&self, ticket: Ticket) -> Option<Offset> {
        self.fault_set.due_at(ticket)
    }
}
