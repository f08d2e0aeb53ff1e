//! Events of a stream that come later than they came.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use tapewright_schemas::event::Offset;

use super::hold::{over, pause};
use super::outcome::Kept;
use crate::http::gateway::Gateway;

/// What is held of one stream, in the order in which it is due; what has no time comes last.
#[derive(Default)]
pub(super) struct Late {
    held: VecDeque<Entry>,
    // The changes of the book that were seen.
    seen: u64,
}

/// How much is passed on in one piece, in bytes.
const MOST_TOGETHER: usize = 256 * 1024;

struct Entry {
    event: Bytes,
    kept: Kept,
    due: Option<Offset>,
}

impl Late {
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Holds an event, behind those that are due no later.
    pub(super) fn add(&mut self, event: Bytes, kept: Kept, due: Option<Offset>) {
        let order = |due: Option<Offset>| due.unwrap_or(Offset(u64::MAX));
        let place = self
            .held
            .partition_point(|entry| order(entry.due) <= order(due));
        self.held.insert(place, Entry { event, kept, due });
    }

    /// What is to be passed on next: all that is due by now, in one piece, or else what is
    /// due first. Nothing is lost when it is not waited for to the end.
    pub(super) async fn next(&mut self, gateway: &Gateway) -> Bytes {
        loop {
            if let Some(event) = self.ready(gateway) {
                return self.together(event, gateway);
            }
            let due = self.held.front().and_then(|first| first.due);
            pause(gateway, due).await;
        }
    }

    fn together(&mut self, first: Bytes, gateway: &Gateway) -> Bytes {
        let Some(second) = self.ready(gateway) else {
            return first;
        };
        let mut all = BytesMut::from(&first[..]);
        all.extend_from_slice(&second);
        while all.len() < MOST_TOGETHER
            && let Some(next) = self.ready(gateway)
        {
            all.extend_from_slice(&next);
        }
        all.freeze()
    }

    fn ready(&mut self, gateway: &Gateway) -> Option<Bytes> {
        // Counted from 1 here, so that nothing is seen at first.
        let changes = gateway.faults.changes() + 1;
        let all = self.seen != changes || gateway.is_ending();
        let looked = if all { self.held.len() } else { 1 };
        let now = gateway.clock.now();
        let is_over = |(at, entry): (usize, &Entry)| {
            let due = entry.due.is_some_and(|due| due <= now);
            let over = (all || due).then(|| over(gateway, entry.kept.ticket()));
            Some((at, over.flatten()?))
        };
        let looked = self.held.iter().take(looked).enumerate();
        let Some((at, over)) = looked.into_iter().find_map(is_over) else {
            self.seen = changes;
            return None;
        };
        let Entry { event, kept, .. } = self.held.remove(at)?;
        kept.passed(over);
        Some(event)
    }
}
