//! Waiting until a fault lets go.

use std::sync::Arc;
use std::time::Duration;

use tapewright_engine::fault::{Book, Hit};
use tapewright_engine::policy::{Hold, Ticket};
use tapewright_schemas::event::{Offset, Release};

use crate::http::gateway::Gateway;

/// How soon a fault that was taken away is noticed.
const LOOK: Duration = Duration::from_millis(10);

/// A ticket that is given back when nobody waits for it any more.
#[derive(Debug)]
pub(crate) struct Held {
    book: Arc<Book>,
    ticket: Ticket,
}

impl Held {
    /// A ticket; `None` when the fault was taken away.
    pub(crate) fn new(
        book: &Arc<Book>,
        hit: &Hit,
        due: Option<Offset>,
        before: Hold,
        then: Hold,
    ) -> Option<Self> {
        let ticket = book.ticket(hit, due, before, then).ok()?;
        Some(Self {
            book: Arc::clone(book),
            ticket,
        })
    }

    pub(crate) fn ticket(&self) -> Ticket {
        self.ticket
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.book.give_back(self.ticket);
    }
}

/// What becomes of what is held when its time has come.
pub(super) const DUE: Hold = Hold::Over(Release::Due);

/// Waits until a ticket is over; what becomes of what it held.
pub(crate) async fn wait(gateway: &Gateway, ticket: Ticket, due: Option<Offset>) -> Hold {
    let mut seen = None;
    loop {
        let changes = Some(gateway.faults.changes());
        let is_due = due.is_some_and(|due| due <= gateway.clock.now());
        // The book is asked only when its answer may be another one.
        if seen != changes || is_due || gateway.is_ending() {
            seen = changes;
            if let Some(over) = over(gateway, ticket) {
                return over;
            }
        }
        pause(gateway, due).await;
    }
}

/// What becomes of what a ticket held; none as long as it is held. What is only to come
/// later comes at once when we are about to end.
pub(super) fn over(gateway: &Gateway, ticket: Ticket) -> Option<Hold> {
    match gateway.faults.hold(gateway.clock.now(), ticket) {
        Hold::Passing if gateway.is_ending() => Some(Hold::Over(Release::End)),
        Hold::Lasting | Hold::Passing => None,
        over => Some(over),
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

/// How late the runtime's timers come.
const LATE: Duration = Duration::from_millis(3);
