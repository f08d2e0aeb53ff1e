//! How a test comes out over all exchanges that asked what it asks.

use tapewright_schemas::event::SessionKey;

use super::calls::ScoredExchange;
use crate::expectation::Outcome;
use crate::failure::Failure;

/// How a test came out over all exchanges that asked what it asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// How many exchanges there were.
    pub exercised: usize,
    /// Of those, how many held.
    pub passed: usize,
    /// How many did not hold.
    pub failed: usize,
    /// How many could not be judged: a mistake of the suite.
    pub unjudged: usize,
    /// How many decide nothing, because the evidence has gaps.
    pub doubtful: usize,
    /// How many wait for a model that cannot be asked.
    pub deferred: usize,
    /// Those that did not hold, could not be judged or decide nothing, in order, as many
    /// of each as are told.
    pub others: Vec<Instance>,
    /// How many more there were.
    pub more: usize,
    /// The longest time from request to answer, in microseconds, where times are known.
    pub took_us: Option<u64>,
}

/// One exchange that a test was judged by.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The session in which it was; 0 where there is but one, or none.
    pub session: SessionKey,
    /// Its request, by its number in the recording.
    pub request: u64,
    /// Its response, likewise.
    pub response: Option<u64>,
    /// How it came out.
    pub outcome: Outcome,
}

/// How many exchanges of one test are told: as many that did not hold or could not be
/// judged, and as many that decide nothing.
const INSTANCES: usize = 16;
/// Of how many bytes of answers the values are kept for the report; of later ones only the
/// words are.
const EVIDENCE_BYTES: usize = 64 << 20;

/// How many bytes of answers all reports of a scorer hold already.
#[derive(Debug, Default)]
pub(super) struct Evidence(usize);

impl Scored {
    /// Counts one more exchange, and keeps what is to be told of it.
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

    /// Remembers how long an exchange took, where times are known.
    pub(super) fn time(&mut self, exchange: &ScoredExchange, timed: bool) {
        if timed {
            self.took_us = self.took_us.max(exchange.took_us);
        }
    }

    /// What did not hold decides nothing, for this reason.
    pub(super) fn doubt_failures(&mut self, why: &str) {
        self.doubtful += std::mem::take(&mut self.failed);
        for one in &mut self.others {
            one.outcome.doubt_failures(why);
        }
    }
}

impl Evidence {
    /// Keeps the values of what does not hold, while there is room for them.
    fn keep(&mut self, answer: usize, outcome: &mut Outcome) {
        let values = answer * outcome.failures.len();
        if self.0.saturating_add(values) > EVIDENCE_BYTES {
            outcome.failures.iter_mut().for_each(Failure::drop_values);
        } else {
            self.0 += values;
        }
    }
}
