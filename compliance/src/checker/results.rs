//! The results of each invariant in one session.

use tapewright_schemas::event::SessionKey;

use super::briefs::{Briefs, Followed};
use super::selection::Selection;
use crate::carrier::Carriers;
use crate::code::Code;
use crate::facts::{Keeps, Transport};
use crate::finding::{Doubt, Doubts, Finding, Side, Status};
use crate::invariant::CaptureCoverage;
use crate::session::Session;
use crate::table::TABLE;

/// The verdicts on one session.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The session.
    pub session: SessionKey,
    /// One for each selected invariant, in the order of the table.
    pub outcomes: Vec<Outcome>,
}

/// The verdict on one invariant.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The invariant.
    pub code: Code,
    /// The verdict.
    pub status: Status,
    /// Why it cannot be decided, if so.
    pub doubts: Doubts,
    /// How often it was exercised.
    pub exercised: u64,
    /// The findings, in the order of the recording.
    pub findings: Vec<Finding>,
    /// The number of findings that are not listed.
    pub more: u64,
}

/// The results of each invariant while a session is in progress.
#[derive(Debug, Default)]
pub(super) struct Results {
    tallies: Vec<Tally>,
    // The number of messages that each brief handled and that are not yet in the tallies.
    briefed: Followed,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    exercised: u64,
    failed: u64,
    raced: u64,
    doubts: Doubts,
    findings: Vec<Finding>,
    more: u64,
}

/// The maximum number of listed findings of one invariant and session.
const LISTED: usize = 100;

impl Results {
    pub(super) fn empty() -> Self {
        Self {
            tallies: vec![Tally::default(); TABLE.len()],
            briefed: Followed::default(),
        }
    }

    /// The brief of this number is followed for a message.
    pub(super) fn count(&mut self, number: usize) {
        self.briefed.count(number);
    }

    /// Adds the counts of a session that is over.
    pub(super) fn add(&mut self, silent: &Followed) {
        self.briefed.merge(silent);
    }

    /// Enters which rules held by the briefs that were followed.
    pub(super) fn settle(&mut self, briefs: &Briefs) {
        // True for every exchange without a session.
        if self.briefed.is_empty() {
            return;
        }
        let briefed = std::mem::take(&mut self.briefed);
        briefs.each(|number, held| {
            let count = briefed.of(number);
            for index in held {
                if let Some(tally) = self.tallies.get_mut(usize::from(*index)) {
                    tally.exercised += count;
                }
            }
        });
    }

    pub(super) fn exercise(&mut self, index: usize) {
        if let Some(tally) = self.tallies.get_mut(index) {
            tally.exercised += 1;
        }
    }

    /// Adds doubts about what a session's file cannot show: always, or unless something was seen.
    pub(super) fn lack(&mut self, selection: &Selection, session: &Session) {
        let facts = session.facts;
        if facts.keeps == Keeps::Everything {
            return;
        }
        let revisions = session.closing_revisions();
        for (index, rule) in selection.each() {
            let idle = self.tallies.get(index).is_none_or(|one| one.exercised == 0);
            let kept = if facts.keeps == Keeps::Conversation {
                // A cassette does not contain the process behind its lines.
                let is_of_process = rule.carriers == Carriers::LINE;
                if is_of_process && facts.transport != Transport::Http {
                    CaptureCoverage::Partly
                } else {
                    CaptureCoverage::Whole
                }
            } else {
                rule.kept(facts.transport)
            };
            let lacks = match kept {
                CaptureCoverage::Whole => false,
                CaptureCoverage::Partly => idle,
                CaptureCoverage::Nothing => true,
            };
            if lacks && rule.levels.revisions().meets(revisions) {
                self.doubt(index, Doubt::NotKept);
            }
        }
    }

    pub(super) fn doubt(&mut self, index: usize, doubt: Doubt) {
        if let Some(tally) = self.tallies.get_mut(index) {
            tally.doubts.add(doubt);
        }
    }

    /// Counts a finding; returns whether it is one of those that are reported.
    pub(super) fn find(&mut self, index: usize, finding: &Finding) -> bool {
        let Some(tally) = self.tallies.get_mut(index) else {
            return false;
        };
        tally.exercised += 1;
        match (finding.status, finding.side) {
            (_, Side::Recorder) => tally.doubts.add(Doubt::Faulted),
            (Status::Race, _) => tally.raced += 1,
            _ => tally.failed += 1,
        }
        let told = tally.findings.len() < LISTED;
        if told {
            tally.findings.push(finding.clone());
        } else {
            tally.more += 1;
        }
        told
    }

    /// The verdicts, where `general` are doubts about the session as a whole.
    pub(super) fn outcomes(self, selection: &Selection, general: Doubts) -> Vec<Outcome> {
        let mut tallies: Vec<Option<Tally>> = self.tallies.into_iter().map(Some).collect();
        let outcome = |(index, rule): (usize, &crate::invariant::Invariant)| {
            let slot: Option<&mut Option<Tally>> = tallies.get_mut(index);
            let tally = slot.and_then(Option::take).unwrap_or_default();
            tally.outcome(rule.code, general)
        };
        selection.each().map(outcome).collect()
    }
}

impl Tally {
    fn outcome(self, code: Code, general: Doubts) -> Outcome {
        let mut doubts = self.doubts;
        doubts.merge(general);
        let status = if self.failed > 0 {
            Status::Fail
        } else if !doubts.is_empty() {
            Status::Inconclusive
        } else if self.raced > 0 {
            Status::Race
        } else if self.exercised > 0 {
            Status::Pass
        } else {
            Status::Vacuous
        };
        Outcome {
            code,
            status,
            doubts,
            exercised: self.exercised,
            findings: self.findings,
            more: self.more,
        }
    }
}
