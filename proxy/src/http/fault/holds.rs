//! How long faults hold messages over HTTP, and waiting for that.

use std::time::Duration;

use tapewright_engine::policy::{Hold, Holds, Ticket};
use tapewright_schemas::event::{Offset, Release};

use crate::http::gateway::Gateway;

/// How soon the removal of a fault is noticed.
const LOOK: Duration = Duration::from_millis(10);

/// The maximum delay of the runtime's timers.
const LATE: Duration = Duration::from_millis(3);

impl Holds for Gateway {
    /// Delayed messages are released immediately when the gateway is about to end.
    fn hold(&self, now: Offset, ticket: Ticket) -> Hold {
        match self.faults.hold(now, ticket) {
            Hold::Passing if self.is_ending() => Hold::Over(Release::End),
            hold => hold,
        }
    }

    fn give_back(&self, ticket: Ticket) {
        self.faults.give_back(ticket);
    }

    fn changes(&self) -> u64 {
        self.faults.changes() + u64::from(self.is_ending())
    }

    fn due(&self, ticket: Ticket) -> Option<Offset> {
        self.faults.due_at(ticket)
    }
}

/// Waits until something that is due at that time may be over.
pub(super) async fn pause(gateway: &Gateway, due: Option<Offset>) {
    let now = gateway.clock.now();
    let left = due.map(|due| Duration::from_micros(due.since(now).0));
    match due.zip(left) {
        Some((due, left)) if left <= LOOK => tokio::select! {
            () = gateway.alarm.at(due) => {}
            () = tokio::time::sleep(left) => {}
        },
        // The runtime's timer fires late; the alarm covers the rest.
        Some((_, left)) => tokio::time::sleep(LOOK.min(left.saturating_sub(LATE))).await,
        None => tokio::time::sleep(LOOK).await,
    }
}
