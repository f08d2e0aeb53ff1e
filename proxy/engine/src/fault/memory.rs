//! The memory of faults.

use std::collections::HashMap;
use std::time::Duration;

use tapewright_schemas::conversation::IdKey;
use tapewright_schemas::event::{Direction, Offset, Release};

use super::fault_set::FaultSet;
use crate::outbox::after;
use crate::policy::Ticket;

/// The number of tickets at which finished ones are removed.
const MOST_TICKETS: usize = 1_024;

/// A request: its direction and its id.
pub(super) type Key = (Direction, IdKey);

/// The memory of faults about one conversation, or one of its streams.
#[derive(Debug, Default)]
pub struct Memory {
    // Messages held until their request is cancelled.
    until_cancelled: HashMap<Key, (Ticket, Duration)>,
    // How many of these were live when last counted.
    live_cancelled: usize,
    // Messages held until the next message of their direction.
    until_next: [Vec<Ticket>; 2],
    // When the last message that must not be overtaken is due.
    last_due: [Offset; 2],
}

impl Memory {
    /// The due time of a message in this direction that must not overtake an earlier one.
    pub(super) fn in_order(&mut self, dir: Direction, due: Offset) -> Offset {
        match self.last_due.get_mut(dir as usize) {
            Some(last) => {
                *last = due.max(*last);
                *last
            }
            None => due,
        }
    }

    /// Holds a message until the next one of this direction.
    pub(super) fn until_next(&mut self, dir: Direction, ticket: Ticket) {
        if let Some(next) = self.until_next.get_mut(dir as usize) {
            next.push(ticket);
        }
    }

    /// Handles a message of this direction; returns whether a held message may be sent after it.
    pub(super) fn next(&mut self, fault_set: &FaultSet, now: Offset, dir: Direction) -> bool {
        let next = self.until_next.get_mut(dir as usize);
        let next = next.map(std::mem::take).unwrap_or_default();
        for ticket in &next {
            fault_set.due(*ticket, now, Release::Next);
        }
        !next.is_empty()
    }

    /// Holds a message until its request is cancelled, and then for a time.
    pub(super) fn until_cancelled(
        &mut self,
        fault_set: &FaultSet,
        key: Key,
        ticket: Ticket,
        wait: Duration,
    ) {
        // Remove entries that were released in another way.
        if self.until_cancelled.len() >= MOST_TICKETS.max(self.live_cancelled * 2) {
            self.until_cancelled
                .retain(|_, (ticket, _)| fault_set.knows(*ticket));
            self.live_cancelled = self.until_cancelled.len();
        }
        self.until_cancelled.insert(key, (ticket, wait));
    }

    /// Handles a cancelled request; returns whether a message was held until then.
    pub(super) fn cancelled(&mut self, fault_set: &FaultSet, now: Offset, key: Key) -> bool {
        let Some((ticket, wait)) = self.until_cancelled.remove(&key) else {
            return false;
        };
        fault_set.due(ticket, after(now, wait), Release::Cancelled);
        true
    }
}
