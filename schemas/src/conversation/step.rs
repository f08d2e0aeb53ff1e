//! What a conversation reports about each message, and about each exchange that is over.

use super::{Exchange, Handle, Outcome, Pairing};
use crate::envelope::{Envelope, Kind, RequestId};
use crate::event::{Direction, Offset, Scope};

/// An exchange that is over.
#[derive(Clone, Debug)]
pub struct Over<T> {
    /// Its handle.
    pub handle: Handle,
    /// The exchange.
    pub exchange: Exchange<T>,
    /// How it ended.
    pub outcome: Outcome,
    /// When.
    pub at: Offset,
}

/// One message, and how it relates to an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a, T> {
    /// Its parsed envelope.
    pub envelope: &'a Envelope<'a>,
    /// Its text.
    pub text: &'a [u8],
    /// What it does.
    pub what: Does,
    /// The exchange that it refers to, if any.
    pub exchange: Option<&'a Exchange<T>>,
    /// The handle of that exchange.
    pub handle: Option<Handle>,
    /// The exchange in flight whose id is reused by the new one.
    pub reuses: Option<Handle>,
    /// It opens one whose id was used before, in flight or not.
    pub again: bool,
    /// The exchange that was forgotten to make room for the new one.
    pub forgotten: Option<Handle>,
    /// It is a member of a batch.
    pub is_member: bool,
    pub(super) scope: Scope,
    pub(super) dir: Direction,
    pub(super) exchanges: &'a Pairing<Box<Exchange<T>>>,
}

/// What a message does to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It opens one.
    Asks,
    /// It answers one.
    Answers,
    /// It answers an exchange whose sender is no longer waiting: it was given up, or the connection
    /// for its answer was lost.
    Late,
    /// It answers an exchange that was already answered.
    Duplicate,
    /// It is the body of an HTTP error, and counts as the answer to a request of its HTTP exchange
    /// although its id names none of them.
    Refuses,
    /// It answers no known request.
    Orphan,
    /// It would answer a request if its id had the same type.
    TypeChanged,
    /// It reports progress of an exchange.
    Progress,
    /// It gives one up.
    Cancels,
    /// Nothing: any other notification, one about nothing known, or not a message.
    Nothing,
}

impl<T> Step<'_, T> {
    /// The exchange that it answers.
    #[must_use]
    pub fn answers(&self) -> Option<&Exchange<T>> {
        self.exchange.filter(|_| self.what == Does::Answers)
    }

    /// The oldest request in flight with the id of the new one that was not given up.
    #[must_use]
    pub fn first_of_id(&self) -> Option<Handle> {
        let Kind::Request { id, .. } = &self.envelope.kind else {
            return None;
        };
        self.reuses?;
        let key = self.exchanges.key(id);
        let first = self.exchanges.find(self.scope, self.dir, key);
        first.filter(|_| first != self.handle).or(self.reuses)
    }

    /// Whether a request with this id, which is source text, was sent in this direction in its
    /// scope.
    #[must_use]
    pub fn knows(&self, dir: Direction, id: &[u8]) -> bool {
        let key = self.exchanges.key(&RequestId::of_source(id));
        self.exchanges.knows(self.scope, dir, key)
    }

    /// Whether a request in this direction of its scope may have been forgotten.
    #[must_use]
    pub fn has_forgotten(&self, dir: Direction) -> bool {
        self.exchanges.has_forgotten(self.scope, dir)
    }

    /// The latest pending request of its scope in this direction that has an id.
    #[must_use]
    pub fn latest(&self, dir: Direction) -> Option<Handle> {
        self.exchanges.latest(self.scope, dir)
    }
}
