//! The result of a test over all exchanges that match its question.

use tapewright_schemas::event::SessionKey;

use super::calls::ScoredExchange;
use crate::expectation::Outcome;
use crate::failure::Failure;

/// The result of a test over all exchanges that match its question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// The number of exchanges.
    pub exercised: usize,
    /// The number of exchanges that passed.
    pub passed: usize,
    /// The number of exchanges that failed.
    pub failed: usize,
    /// The number of exchanges that could not be judged, because of an error in the suite.
    pub unjudged: usize,
    /// The number of exchanges that are inconclusive, because the recording has gaps.
    pub doubtful: usize,
    /// The number of exchanges that wait for a model that cannot be asked.
    pub deferred: usize,
    /// Those that failed, could not be judged or are inconclusive, in order, up to a limit for
    /// each.
    pub others: Vec<Instance>,
    /// The number of those beyond the limits.
    pub more: usize,
    /// The longest time from request to answer, in microseconds, if times are known.
    pub took_us: Option<u64>,
}

/// One exchange that a test was judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its session; 0 if there is only one, or none.
    pub session: SessionKey,
    /// The number of its request in the recording.
    pub request: u64,
    /// The number of its response.
    pub response: Option<u64>,
    /// The outcome.
    pub outcome: Outcome,
}

/// The maximum number of reported exchanges of one test: for those that failed or could not be
/// judged, and for those that are inconclusive.
const INSTANCES: usize = 16;
/// The maximum size of answers whose values are kept for the report; for later ones only the
/// messages are.
const EVIDENCE_BYTES: usize = 64 << 20;

/// The size of answers that all reports of a scorer already hold, in bytes.
#[derive(Debug, Default)]
pub(super) struct Evidence(usize);

impl Scored {
    /// Counts one more exchange, and keeps the data for its report.
    pub(super) fn note(
        &mut self,
        exchange: &ScoredExchange,
        mut outcome: Outcome,
        held: &mut Evidence,
    ) {
        self.exercised += 1;
        if outcome.holds() {
            self.passed += 1;
            return;
        }
        let told = if !outcome.errors.is_empty() {
            self.unjudged += 1;
            self.unjudged + self.failed
        } else if !outcome.failures.is_empty() {
            self.failed += 1;
            self.unjudged + self.failed
        } else if !outcome.doubts.is_empty() {
            self.doubtful += 1;
            self.doubtful
        } else {
            self.deferred += 1;
            self.deferred
        };
        if told > INSTANCES {
            self.more += 1;
            return;
        }
        held.keep(exchange.reply.len(), &mut outcome);
        self.others.push(Instance {
            session: exchange.session,
            request: exchange.request,
            response: exchange.response,
            outcome,
        });
    }

    /// Records the duration of an exchange, if times are known.
    pub(super) fn time(&mut self, exchange: &ScoredExchange, timed: bool) {
        if timed {
            self.took_us = self.took_us.max(exchange.took_us);
        }
    }

    /// Turns failures into inconclusive results, for this reason.
    pub(super) fn doubt_failures(&mut self, why: &str) {
        self.doubtful += std::mem::take(&mut self.failed);
        for one in &mut self.others {
            one.outcome.doubt_failures(why);
        }
    }
}

impl Evidence {
    /// Keeps the values of failures, while there is room for them.
    fn keep(&mut self, answer: usize, outcome: &mut Outcome) {
        let values = answer * outcome.failures.len();
        if self.0.saturating_add(values) > EVIDENCE_BYTES {
            outcome.failures.iter_mut().for_each(Failure::drop_values);
        } else {
            self.0 += values;
        }
    }
}
