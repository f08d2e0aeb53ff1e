//! Waiting until a fault lets go.

use std::sync::Arc;
use std::time::Duration;

use tapewright_engine::fault::{Book, Hit};
use tapewright_engine::policy::{Hold, Ticket};
use tapewright_schemas::event::Offset;

use crate::clock::Clock;

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

/// Waits until a ticket is over; what becomes of what it held.
pub(crate) async fn wait(book: &Book, clock: Clock, ticket: Ticket, due: Option<Offset>) -> Hold {
    let mut seen = None;
    loop {
        let now = clock.now();
        let changes = Some(book.changes());
        // The book is asked only when its answer may be another one.
        if seen != changes || due.is_some_and(|due| due <= now) {
            seen = changes;
            match book.hold(now, ticket) {
                Hold::Lasting | Hold::Passing => {}
                over => return over,
            }
        }
        let left = due.map_or(LOOK, |due| Duration::from_micros(due.since(now).0));
        tokio::time::sleep(left.min(LOOK)).await;
    }
}
