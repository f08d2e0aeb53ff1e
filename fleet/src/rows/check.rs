//! Checks recordings whose recorder did not.

use std::collections::{HashSet, VecDeque};

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
    // What the recorder wrote before this judge found it: a recorder writes its findings about the
    // end of a session before its footer.
    written: HashSet<(String, Option<u64>)>,
    events: u64,
    // The number and the time of the last event.
    last: (u64, Offset),
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
/// How many findings wait; beyond that, the first one is reported. As many of the recorder's are
/// remembered.
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
            written: HashSet::new(),
            events: 0,
            last: (0, Offset::default()),
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
        self.last = (event.seq, event.at);
        if let EventBody::Finding(theirs) = &event.body {
            self.take_theirs(theirs);
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

    fn take_theirs(&mut self, theirs: &Finding) {
        let before = self.waiting.len();
        let theirs = key(theirs);
        self.waiting.retain(|one| key(&one.found.finding) != theirs);
        if self.waiting.len() == before && self.written.len() < WAITING {
            let (code, event) = theirs;
            self.written.insert((code.to_owned(), event));
        }
    }

    fn collect(&mut self, seq: u64, at: Offset) {
        while let Some(told) = self.judge.poll() {
            let EventBody::Finding(finding) = told.body else {
                continue;
            };
            let (code, event) = key(&finding);
            if self.written.contains(&(code.to_owned(), event)) {
                continue;
            }
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

    /// Ends the tape after the last event.
    pub(super) fn finish(mut self) -> Vec<Derived> {
        let (seq, at) = self.last;
        self.judge.end(at);
        self.collect(seq, at);
        self.waiting.into_iter().map(|one| one.found).collect()
    }
}

/// What two findings have in common that are the same one: the rule, and the decisive event.
fn key(finding: &Finding) -> (&str, Option<u64>) {
    let event = finding.evidence.first().map(|place| place.seq);
    (&finding.code, event)
}
