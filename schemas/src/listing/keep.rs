//! What is kept of an exchange until it is over, and how much room there is for it.

use super::order::Key;
use super::{Body, Entry};

/// The stored part of an exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptExchange {
    /// Its place among the lines; `None` if it is not wanted.
    pub(super) key: Option<Key>,
    pub(super) request: Body,
    pub(super) answer: Body,
}

/// The room for what was said.
#[derive(Debug, Default)]
pub(super) struct Room {
    used: usize,
}

/// How much of what was said is kept at once, in bytes.
const LIMIT: usize = 64 << 20;

impl Room {
    /// Keeps a text, where there is room; one is always kept where nothing else is.
    pub(super) fn take(&mut self, body: Body) -> Body {
        let length = body.text().map_or(0, <[u8]>::len);
        if self.used > 0 && self.used.saturating_add(length) > LIMIT {
            return Body::NoRoom;
        }
        self.used += length;
        body
    }

    /// What a line says is kept no longer.
    pub(super) fn free_all(&mut self, entry: &Entry) {
        for body in entry.bodies().into_iter().flatten() {
            self.free(body);
        }
    }

    /// A text is kept no longer.
    pub(super) fn free(&mut self, body: &Body) {
        let length = body.text().map_or(0, <[u8]>::len);
        self.used = self.used.saturating_sub(length);
    }

    /// Whether it is time to let go of something.
    pub(super) fn is_full(&self) -> bool {
        self.used > LIMIT / 2
    }
}
