//! The data of an exchange that is kept until it is over, and the memory for it.

use super::order::Key;
use super::{Body, Entry};

/// The stored data of an exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptExchange {
    /// Its position among the lines; `None` if it is filtered out.
    pub(super) key: Option<Key>,
    pub(super) request: Body,
    pub(super) answer: Body,
}

/// The memory for message contents.
#[derive(Debug, Default)]
pub(super) struct Room {
    used: usize,
}

/// The limit of message contents that are held at once, in bytes.
const LIMIT: usize = 64 << 20;

impl Room {
    /// Keeps a text if there is room; the first one is always kept.
    pub(super) fn take(&mut self, body: Body) -> Body {
        let length = body.text().map_or(0, <[u8]>::len);
        if self.used > 0 && self.used.saturating_add(length) > LIMIT {
            return Body::NoRoom;
        }
        self.used += length;
        body
    }

    /// Releases the contents of a line.
    pub(super) fn free_all(&mut self, entry: &Entry) {
        for body in entry.bodies().into_iter().flatten() {
            self.free(body);
        }
    }

    /// Releases a text.
    pub(super) fn free(&mut self, body: &Body) {
        let length = body.text().map_or(0, <[u8]>::len);
        self.used = self.used.saturating_sub(length);
    }

    /// Whether some of it should be released.
    pub(super) fn is_full(&self) -> bool {
        self.used > LIMIT / 2
    }
}
