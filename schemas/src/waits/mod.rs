//! Requests that wait for too long: hangs.
//!
//! A hang is a request that waited longer than a given time, or whose answer a fault holds back, or
//! that nothing could answer any more. [`Waits::poll`] reports when one begins and how each
//! exchange ends.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::conversation::{Conversation, Does, Exchange, Handle, Over, Step};
use crate::envelope::Envelope;
use crate::event::{Event, Offset};

/// Follows requests until they are answered, given up, or cannot be answered any more.
#[derive(Debug, Default)]
pub struct Waits {
    conversation: Conversation<HangReported>,
    long: Offset,
    // Those that have not yet been reported as waiting for long, by age.
    young: VecDeque<(Offset, Handle)>,
    changes: VecDeque<Change>,
}

/// Whether a hang was reported for a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct HangReported(bool);

/// A request that waits, or waited.
pub type Wait = Exchange<HangReported>;

/// A change in the state of a request.
#[derive(Clone, Debug)]
pub enum Change {
    /// It hangs.
    Hangs(Box<Wait>),
    /// It waits no longer.
    Over {
        /// Its exchange.
        over: Box<Over<HangReported>>,
        /// It was a hang.
        hung: bool,
    },
}

impl Waits {
    /// Follows requests from here on; one that is pending for `long` is a hang.
    #[must_use]
    pub fn new(long: Offset) -> Self {
        Self {
            long,
            ..Self::default()
        }
    }

    /// Handles the next event; `message` is its parsed message, if known. `each` is called for
    /// every single message.
    pub fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        mut each: impl FnMut(Step<'_, HangReported>),
    ) {
        self.tick(event.at);
        let young = &mut self.young;
        self.conversation.observe(event, message, |step| {
            if let (Does::Asks, Some(handle)) = (step.what, step.handle) {
                young.push_back((event.at, handle));
            }
            each(step);
        });
        self.collect();
    }

    /// Sets the time to `now`, and reports requests that have been waiting for long.
    pub fn tick(&mut self, now: Offset) {
        self.conversation.tick(now);
        self.collect();
        while let Some((at, handle)) = self.young.front().copied() {
            let wait = self.conversation.get(handle);
            if wait.is_some() && now.since(at) < self.long {
                return;
            }
            self.young.pop_front();
            if wait.is_some_and(Wait::is_pending) {
                self.hangs(handle);
            }
        }
    }

    /// Nothing more will come.
    pub fn finish(&mut self) {
        self.conversation.finish();
        self.collect();
    }

    /// The next change.
    pub fn poll(&mut self) -> Option<Change> {
        self.changes.pop_front()
    }

    /// The requests whose senders wait, the oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Wait> {
        let all = self.conversation.iter().map(|(_, wait)| wait);
        all.filter(|wait| wait.is_pending())
    }

    /// The time after which a request counts as a hang.
    #[must_use]
    pub fn long(&self) -> Offset {
        self.long
    }

    fn hangs(&mut self, handle: Handle) {
        if let Some(wait) = self.conversation.get_mut(handle)
            && !std::mem::replace(&mut wait.value.0, true)
        {
            self.changes
                .push_back(Change::Hangs(Box::new(wait.clone())));
        }
    }

    fn collect(&mut self) {
        while let Some(handle) = self.conversation.poll_kept() {
            self.hangs(handle);
        }
        while let Some(over) = self.conversation.poll() {
            let wait = &over.exchange;
            let long = over.at.since(wait.at) >= self.long || !over.outcome.is_answer();
            let hung = wait.value.0 || long && wait.is_owed();
            let over = Box::new(over);
            self.changes.push_back(Change::Over { over, hung });
        }
    }
}
