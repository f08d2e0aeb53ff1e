//! Judging a recording while it is written.
//!
//! [`Live`] is a [`Checker`] that implements [`Judge`]: it sees every event as recorded on the
//! tape, and its findings are written to the tape as events. Judging the tape later yields the same
//! findings, because it is the same fold over the same events.
//!
//! # Bounded memory
//!
//! In addition to the checker's own tables: sessions that have ended are forgotten at once, and
//! `hangs` follows a bounded number of requests.

mod hangs;

use std::collections::VecDeque;

use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{
    Direction, Event, EventBody, Finding as TapeFinding, FindingStatus, Judge, Offset, Seen,
};

use self::hangs::Hangs;
use crate::checker::{Checker, Selection};
use crate::facts::Facts;
use crate::finding::{Finding, Status};

/// What to judge while a recording is written.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The invariants to judge by, if any.
    pub selection: Option<Selection>,
    /// The time after which a pending request is a hang, if ever.
    pub hang_after: Option<Offset>,
}

/// Judges a recording while it is written.
#[derive(Debug)]
pub struct Live {
    checker: Option<Checker>,
    hangs: Option<Hangs>,
    told: VecDeque<Event>,
}

impl Live {
    /// Creates a judge at the start of a recording.
    #[must_use]
    pub fn new(facts: Facts, watch: &Watch) -> Self {
        // Very recent events are never missing, and the judge's own events are numbered, too.
        let facts = Facts {
            numbered: false,
            ..facts
        };
        let checker = |selection: &Selection| Checker::new(facts, selection.clone()).forgetting();
        Self {
            checker: watch.selection.as_ref().map(checker),
            hangs: watch.hang_after.map(Hangs::new),
            told: VecDeque::new(),
        }
    }

    fn collect(&mut self) {
        let Some(checker) = &mut self.checker else {
            return;
        };
        while let Some(finding) = checker.poll() {
            self.told.push_back(event(&finding));
        }
    }
}

impl Judge for Live {
    fn observe(&mut self, event: &Event, message: Option<&Envelope<'_>>) {
        let parsed;
        let message = if message.is_some() {
            message
        } else {
            parsed = event.envelope();
            parsed.as_ref()
        };
        if let Some(hangs) = &mut self.hangs {
            hangs.observe(event, message, &mut self.told);
        }
        if let Some(checker) = &mut self.checker {
            checker.observe(event, message);
            self.collect();
        }
    }

    fn message(&mut self, seen: &Seen<'_>) {
        if self.hangs.is_some() {
            return self.observe(&seen.to_event(), Some(seen.message));
        }
        if let Some(checker) = &mut self.checker {
            checker.see(seen);
            if checker.has_found() {
                self.collect();
            }
        }
    }

    fn tick(&mut self, now: Offset) {
        if let Some(hangs) = &mut self.hangs {
            hangs.tick(now, &mut self.told);
        }
    }

    fn end(&mut self, now: Offset) {
        self.tick(now);
        if let Some(checker) = &mut self.checker {
            checker.end(None);
            self.collect();
        }
    }

    fn poll(&mut self) -> Option<Event> {
        self.told.pop_front()
    }
}

/// The event of a finding on the tape.
fn event(finding: &Finding) -> Event {
    let status = match finding.status {
        Status::Race => FindingStatus::Race,
        _ => FindingStatus::Fail,
    };
    let told = TapeFinding {
        severity: Some(finding.severity),
        evidence: finding.evidence.clone(),
        ..TapeFinding::new(
            finding.code.to_string(),
            status,
            finding.side,
            finding.detail.clone(),
        )
    };
    let mut event = Event::new(
        finding.at,
        Direction::ToClient,
        EventBody::Finding(Box::new(told)),
    );
    event.session = finding.session;
    event
}

#[cfg(test)]
mod faulted_tests;
#[cfg(test)]
mod tests;
