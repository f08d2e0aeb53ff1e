//! Updates as a stream of server-sent events: rows, and the state outside the rows.
//!
//! Rows are read from their files when the connection has room: a reader that never reads costs
//! only its connection, and is notified of dropped rows.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::answer::PageFacts;
use super::content::Viewer;
use crate::clock::runtime_now;
use crate::http::body::events::{ALIVE, EventSource, EventStream, alive};

/// The updates for one reader.
pub(super) type Updates = EventStream<Reading>;

/// The position of a viewer.
pub(super) struct Reading {
    knows: Arc<PageFacts>,
    // The number of the next row.
    at: u64,
    told: watch::Receiver<u64>,
    // The last sent state, and a watch for changes.
    state: String,
    stamps: watch::Receiver<u64>,
    // When the next piece may be sent.
    due: Instant,
    _looking: Viewer,
}

/// The maximum size of a frame, in bytes.
const FRAME_BYTES: usize = 128 * 1024;
/// The minimum time between two pieces, unless there is more than fits in one: faster changes would
/// not be visible.
const PIECE: Duration = Duration::from_millis(100);

/// The updates starting at a row.
pub(super) fn news(knows: Arc<PageFacts>, at: u64) -> Updates {
    EventStream::new(Reading {
        at,
        told: knows.shown.rows.told(),
        state: String::new(),
        stamps: told_at_once(knows.shown.stamps()),
        due: runtime_now(),
        _looking: knows.shown.look(),
        knows,
    })
}

impl EventSource for Reading {
    /// The next updates when there are any; `None` at the end.
    async fn next(mut self) -> (Option<Bytes>, Self) {
        loop {
            tokio::time::sleep_until(self.due).await;
            self.told.borrow_and_update();
            let mut text = self.rows();
            let is_full = text.len() >= FRAME_BYTES;
            if !is_full && let Some(state) = self.beside() {
                text.push_str(&state);
            }
            if !text.is_empty() {
                self.due = if is_full {
                    self.due
                } else {
                    runtime_now() + PIECE
                };
                return (Some(text.into()), self);
            }
            let changed = tokio::select! {
                changed = self.told.changed() => changed,
                // It is checked in the next round.
                changed = self.stamps.changed() => changed.map(|()| self.stamps.mark_changed()),
                () = tokio::time::sleep(ALIVE) => {
                    return (Some(alive()), self);
                }
            };
            if changed.is_err() {
                return (None, self);
            }
        }
    }
}

impl Reading {
    fn rows(&mut self) -> String {
        let mut text = String::new();
        let Ok(batch) = self.knows.shown.rows.read(self.at, FRAME_BYTES) else {
            return text;
        };
        // Writing to a string cannot fail.
        if batch.missed > 0 {
            let count = batch.missed;
            write!(text, "event: missed\ndata: {{\"count\":{count}}}\n\n").ok();
        }
        if !batch.text.is_empty() {
            let (next, rows) = (batch.next, &batch.text);
            write!(text, "id: {next}\nevent: rows\ndata: [{rows}]\n\n").ok();
        }
        self.at = batch.next;
        text
    }

    /// The state outside the rows, if it has changed.
    fn beside(&mut self) -> Option<String> {
        // The state can only have changed together with the stamp.
        if !self.stamps.has_changed().unwrap_or(false) {
            return None;
        }
        self.stamps.mark_unchanged();
        let state = self.knows.state().to_string();
        if state == self.state {
            return None;
        }
        let text = format!("event: state\ndata: {state}\n\n");
        self.state = state;
        Some(text)
    }
}

/// Marks the watch as changed, since nothing was sent so far.
fn told_at_once(mut stamps: watch::Receiver<u64>) -> watch::Receiver<u64> {
    stamps.mark_changed();
    stamps
}
