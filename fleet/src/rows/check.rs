//! Checks recordings whose recorder did not.

use std::collections::VecDeque;

use tapewright_compliance::live::{Live, Watch};
use tapewright_compliance::{Facts, Selection};
use tapewright_schemas::envelope::Envelope;
use tapewright_schemas::event::{Event, EventBody, Finding, Judge as _, Offset, SessionKey};
use tapewright_schemas::recording::FileKind;
use tapewright_schemas::tape::Header;

/// Checks a tape by every invariant, as `tapewright check` does. Findings that its recorder wrote
/// are not repeated.
#[derive(Debug)]
pub(super) struct Check {
    judge: Live,
    waiting: VecDeque<Waiting>,
    events: u64,
}

/// A finding that the recorder may still write.
#[derive(Debug)]
struct Waiting {
    since: u64,
    found: Derived,
}

/// A finding, and the position of the tape at that time.
#[derive(Debug)]
pub(super) struct Derived {
    /// The decisive event.
    pub(super) seq: u64,
    pub(super) at_us: u64,
    pub(super) session: SessionKey,
    pub(super) finding: Finding,
}

/// How many events later a recorder may write a finding at most.
const LATE: u64 = 4_096;
/// How many findings wait; beyond that, the first one is reported.
const WAITING: usize = 4_096;

impl Check {
    pub(super) fn new(header: &Header) -> Self {
        let watch = Watch {
            selection: Some(Selection::all()),
            hang_after: None,
        };
        Self {
            judge: Live::new(Facts::of(FileKind::Tape, header, true), &watch),
            waiting: VecDeque::new(),
            events: 0,
        }
    }

    /// Judges an event. Adds findings that no later line can contain anymore.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        message: Option<&Envelope<'_>>,
        found: &mut Vec<Derived>,
    ) {
        self.events += 1;
        if let EventBody::Finding(theirs) = &event.body {
            let is_theirs = |one: &Waiting| is_same(&one.found.finding, theirs);
            self.waiting.retain(|one| !is_theirs(one));
        } else {
            self.judge.observe(event, message);
            self.collect(event.seq, event.at);
        }
        let events = self.events;
        while let Some(first) = self.waiting.front() {
            if first.since + LATE > events && self.waiting.len() <= WAITING {
                break;
            }
            found.extend(self.waiting.pop_front().map(|first| first.found));
        }
    }

    fn collect(&mut self, seq: u64, at: Offset) {
        while let Some(told) = self.judge.poll() {
            let EventBody::Finding(finding) = told.body else {
                continue;
            };
            let found = Derived {
                seq: finding.evidence.first().map_or(seq, |place| place.seq),
                at_us: at.0,
                session: told.session,
                finding: *finding,
            };
            let since = self.events;
            self.waiting.push_back(Waiting { since, found });
        }
    }

    /// Ends the tape after this event.
    pub(super) fn finish(&mut self, seq: u64, at: Offset) -> Vec<Derived> {
        self.judge.end(at);
        self.collect(seq, at);
        self.waiting.drain(..).map(|one| one.found).collect()
    }
}

/// Whether two findings have the same rule and the same decisive event.
fn is_same(one: &Finding, other: &Finding) -> bool {
    let event = |one: &Finding| one.evidence.first().map(|place| place.seq);
    one.code == other.code && event(one) == event(other)
}
