//! Showing a judge what is written.

use std::fmt;

use super::Encoder;
use super::known::KnownHeads;
use super::proof::Proof;
use super::record::{Line, Record, parse};
use crate::envelope::Envelope;
use crate::era::Era;
use crate::event::{Event, EventBody, Judge, Offset, Seen};

/// The judge of a tape, if it has one.
#[derive(Default)]
pub(super) struct Watch {
    judge: Option<Box<dyn Judge>>,
    // The current event was shown.
    shown: bool,
    heads: KnownHeads,
}

impl Encoder {
    /// Has a judge examine everything that is written.
    #[must_use]
    pub fn with_judge(mut self, judge: Option<Box<dyn Judge>>) -> Self {
        self.watch.judge = judge;
        self
    }

    /// The next event that the judge wants to add to the tape.
    pub fn poll_judge(&mut self) -> Option<Event> {
        self.watch.judge.as_mut()?.poll()
    }

    /// Passes the current time to the judge.
    pub fn tick_judge(&mut self, now: Offset) {
        if let Some(judge) = &mut self.watch.judge {
            judge.tick(now);
        }
    }

    /// Notifies the judge that the tape ends.
    pub fn end_judge(&mut self, now: Offset) {
        if let Some(judge) = &mut self.watch.judge {
            judge.end(now);
        }
    }
}

impl Watch {
    /// An event is about to be written.
    pub(super) fn begin(&mut self) {
        self.shown = false;
    }

    pub(super) fn is_on(&self) -> bool {
        self.judge.is_some()
    }

    /// Shows a message that is recorded unchanged on the tape.
    pub(super) fn message(
        &mut self,
        event: &Event,
        seq: u64,
        era: Option<Era>,
        message: &Envelope<'_>,
    ) {
        let Some(judge) = &mut self.judge else {
            return;
        };
        self.shown = true;
        judge.message(&Seen {
            event,
            seq,
            era,
            message,
        });
    }

    /// Shows a written event to the judge, unless it was already shown or is irrelevant to it.
    pub(super) fn line(&mut self, event: &Event, line: &[u8]) {
        let silent = matches!(
            event.body,
            EventBody::Added(_)
                | EventBody::Edited(_)
                | EventBody::Finding(_)
                | EventBody::Part { .. }
                | EventBody::Stderr { .. }
                | EventBody::Trailers(_)
        );
        let judge = self.judge.as_mut().filter(|_| !silent && !self.shown);
        let Some(judge) = judge.filter(|judge| judge.wants(event)) else {
            return;
        };
        // Read back: what a judge sees later is what it sees now.
        let mut proof = Proof::default();
        if let Ok(Record::Event(seen)) = parse(Line::Lent(line), &mut self.heads, &mut proof) {
            judge.observe(&seen, None);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Watch")
            .field("on", &self.is_on())
            .finish_non_exhaustive()
    }
}
