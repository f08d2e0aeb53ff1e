//! The faults of a book, as a lane asks for them.

use std::sync::{Arc, Mutex, PoisonError};

use tapewright_schemas::event::{ConduitId, Direction, Offset, SessionKey};

use super::book::Book;
use super::conversation::Conversation;
use crate::policy::{Decision, Hold, Holds, Message, Policy, Ticket};

/// The faults of a book, on one conversation.
///
/// Both lanes share what is known of their conversation behind a lock, which is taken only
/// while a fault is in force.
#[derive(Clone, Debug)]
pub struct FaultPolicy {
    book: Arc<Book>,
    session: SessionKey,
    shared: Arc<Mutex<Conversation>>,
}

impl FaultPolicy {
    /// The faults of a book.
    #[must_use]
    pub fn new(book: Arc<Book>) -> Self {
        Self {
            book,
            session: SessionKey::default(),
            shared: Arc::default(),
        }
    }
}

impl Policy for FaultPolicy {
    fn is_idle(&self) -> bool {
        self.book.is_idle()
    }

    fn decide(&mut self, now: Offset, dir: Direction, message: &Message<'_>) -> Decision {
        let conversation = self.shared.lock();
        let mut conversation = conversation.unwrap_or_else(PoisonError::into_inner);
        conversation.decide(&self.book, self.session, now, dir, message)
    }

    fn for_conduit(&self, _conduit: ConduitId, session: SessionKey) -> Self {
        Self {
            session,
            ..Self::new(Arc::clone(&self.book))
        }
    }
}

impl Holds for FaultPolicy {
    fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        self.book.hold(now, ticket)
    }

    fn give_back(&self, ticket: Ticket) {
        self.book.give_back(ticket);
    }

    fn changes(&self) -> u64 {
        self.book.changes()
    }

    fn due(&self, ticket: Ticket) -> Option<Offset> {
        self.book.due_at(ticket)
    }
}
