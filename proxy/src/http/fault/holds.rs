//! How long what faults hold over HTTP is held, and waiting for that.

use std::time::Duration;

use tapewright_engine::policy::{Hold, Holds, Ticket};
use tapewright_schemas::event::{Offset, Release};

use crate::http::gateway::Gateway;

/// How soon a fault that was taken away is noticed.
const LOOK: Duration = Duration::from_millis(10);

/// How late the runtime's timers come.
const LATE: Duration = Duration::from_millis(3);

impl Holds for Gateway {
    /// What is only to come later comes at once when we are about to end.
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

/// Waits until something may be over that is due then.
pub(super) async fn pause(gateway: &Gateway, due: Option<Offset>) {
    let now = gateway.clock.now();
    let left = due.map(|due| Duration::from_micros(due.since(now).0));
    match due.zip(left) {
        Some((due, left)) if left <= LOOK => tokio::select! {
            () = gateway.alarm.at(due) => {}
            () = tokio::time::sleep(left) => {}
        },
        // The runtime's timer comes late; what is left is waited for with the alarm.
        Some((_, left)) => tokio::time::sleep(LOOK.min(left.saturating_sub(LATE))).await,
        None => tokio::time::sleep(LOOK).await,
    }
}
