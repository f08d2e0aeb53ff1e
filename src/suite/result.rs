//! The results of a suite.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use tapewright_assertions::{Failure, Unjudged};
use tapewright_config::SourceSpot;
use tapewright_judges::Opinion;

use super::plan::Kind;
use crate::exit::Exit;

/// The results of a suite, row by row in the order of the suite.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    /// The parts of the suite that were not run at all, a line each.
    pub(crate) skipped: Vec<String>,
    /// Notes next to the rows: advisory budgets, gaps of a recording.
    pub(crate) notes: Vec<String>,
    /// The tools that a recording used, and the tests that matched their calls.
    pub(crate) tools: Vec<Tool>,
    /// The time from the first test to the last.
    pub(crate) took: Duration,
    /// Whether a test without a matching exchange counts as passed.
    pub(crate) allow_unexercised: bool,
    /// Whether it stopped early, as requested.
    pub(crate) stopped: bool,
    /// Whether an empty selection counts as passed.
    pub(crate) pass_with_no_tests: bool,
    /// How many tests are known to fail, but passed.
    pub(crate) stale: usize,
}

/// One result of a test.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its index among the cases of the plan.
    pub(crate) case: usize,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) server: Option<String>,
    /// The revision of the protocol, if the suite has several.
    pub(crate) revision: Option<String>,
    pub(crate) status: Status,
    pub(crate) failures: Vec<Located<Failure>>,
    pub(crate) errors: Vec<Located<Unjudged>>,
    /// Why it was skipped, is inconclusive, or could not be judged as a whole.
    pub(crate) reasons: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// How long the call took; `None` without a call.
    pub(crate) took: Option<Duration>,
    /// How often it was run.
    pub(crate) asked: usize,
    /// Whether it failed before it passed.
    pub(crate) flaky: bool,
    /// Whether it was served from a cassette.
    pub(crate) replay: bool,
    /// Whether the stub replaced the model: nothing is judged.
    pub(crate) stub: bool,
    /// The cost of models; `None` if none was asked.
    pub(crate) cost: Option<Cost>,
    /// The models that were asked.
    pub(crate) models: BTreeSet<String>,
    /// The opinions of judges.
    pub(crate) judgements: Vec<Judgement>,
    /// How many recorded exchanges it was judged by.
    pub(crate) exercised: Option<usize>,
    /// Its place in the suite.
    pub(crate) place: SourceSpot,
}

/// An opinion of a judge.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// The matcher or metric that asked.
    pub(crate) by: &'static str,
    pub(crate) opinion: Opinion,
    /// The recorded opinion, if the judge was asked again and it differs.
    pub(crate) was: Option<Opinion>,
}

/// A finding, with its place in the suite, and the exchange that it is about.
#[derive(Debug)]
pub(crate) struct Located<T> {
    pub(crate) what: T,
    pub(crate) place: SourceSpot,
    pub(crate) exchange: Option<ExchangeNumbers>,
}

/// An exchange of a recording, by the numbers of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExchangeNumbers {
    /// The session; 0 if there is only one, or none.
    pub(crate) session: u32,
    pub(crate) request: u64,
    pub(crate) response: Option<u64>,
}

impl fmt::Display for ExchangeNumbers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.session != 0 {
            write!(out, "session {}, ", self.session)?;
        }
        write!(out, "event {}", self.request)
    }
}

/// The cost of the answers of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// How often a model was asked.
    pub(crate) asked: u64,
    pub(crate) tokens: u64,
    /// In millionths of a US cent, as far as known.
    pub(crate) amount: u64,
    /// Whether all of it is known.
    pub(crate) is_known: bool,
}

impl Cost {
    /// The cost of no request.
    pub(crate) const NONE: Self = Self {
        asked: 0,
        tokens: 0,
        amount: 0,
        is_known: true,
    };

    /// The sum of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            tokens: self.tokens.saturating_add(other.tokens),
            amount: self.amount.saturating_add(other.amount),
            is_known: self.is_known && other.is_known,
        }
    }

    /// In dollars, exact.
    pub(crate) fn dollars(self) -> String {
        const DOLLAR: u64 = 100_000_000;
        format!("{}.{:08}", self.amount / DOLLAR, self.amount % DOLLAR)
    }
}

/// `1234 tokens, $0.0042`; unknown costs are not shown as zero.
impl fmt::Display for Cost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.tokens == 1 { "token" } else { "tokens" };
        write!(out, "{} {noun}, ", self.tokens)?;
        match (self.is_known, self.amount) {
            (true, _) => write!(out, "${}", self.short()),
            (false, 0) => write!(out, "cost unknown"),
            (false, _) => write!(out, "more than ${}", self.short()),
        }
    }
}

impl Cost {
    /// In dollars, with at least four decimal places, and more if they are significant.
    fn short(self) -> String {
        let exact = self.dollars();
        let trimmed = exact.trim_end_matches('0');
        let decimals = trimmed.len() - trimmed.find('.').map_or(0, |at| at + 1);
        format!("{trimmed}{}", "0".repeat(4_usize.saturating_sub(decimals)))
    }
}

/// A tool in a recording.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) listed: bool,
    /// The names of the tests that matched one of its calls.
    pub(crate) tests: Vec<String>,
}

/// The status of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// A model must judge it, and none can be asked.
    Deferred,
    /// It could not be judged, because of an error in the suite.
    Error,
    Fail,
    /// The evidence has gaps.
    Inconclusive,
    /// It failed, as expected by the baseline.
    Known,
    /// No exchange of the recording matches it.
    NotExercised,
    Pass,
    Skip,
}

impl Status {
    pub(crate) const ALL: [Self; 8] = [
        Self::Pass,
        Self::Fail,
        Self::Known,
        Self::Error,
        Self::Inconclusive,
        Self::NotExercised,
        Self::Deferred,
        Self::Skip,
    ];

    /// Its name in reports for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Deferred => "deferred",
            Self::Error => "error",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
            Self::Known => "known_failure",
            Self::NotExercised => "not_exercised",
            Self::Pass => "pass",
            Self::Skip => "skip",
        }
    }

    /// Its name in counts.
    pub(crate) fn counted(self) -> &'static str {
        match self {
            Self::Deferred => "deferred",
            Self::Error => "could not be judged",
            Self::Fail => "failed",
            Self::Inconclusive => "inconclusive",
            Self::Known => "known to fail",
            Self::NotExercised => "not exercised",
            Self::Pass => "passed",
            Self::Skip => "skipped",
        }
    }
}

impl Results {
    /// How many rows have this status.
    pub(crate) fn count(&self, status: Status) -> usize {
        self.rows.iter().filter(|row| row.status == status).count()
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        let has = |status| self.count(status) > 0;
        if self.rows.is_empty() && self.pass_with_no_tests {
            return Exit::Pass;
        }
        if has(Status::Error) {
            return Exit::Unusable;
        }
        if has(Status::Fail) || self.stale > 0 {
            return Exit::Fail;
        }
        let judged = self.count(Status::Pass) + self.count(Status::Known);
        let idle = has(Status::NotExercised) && !self.allow_unexercised;
        // Without a key nothing can be judged, and a machine without keys stays green.
        let stub = has(Status::Deferred) || self.rows.iter().any(|row| row.stub);
        let nothing = judged == 0 && !has(Status::NotExercised) && !stub;
        if has(Status::Inconclusive) || idle || nothing {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }
}

impl Row {
    /// Its name in reports: with the revision, if there are several.
    pub(crate) fn title(&self) -> String {
        match &self.revision {
            Some(revision) => format!("{} [{revision}]", self.name),
            None => self.name.clone(),
        }
    }
}
