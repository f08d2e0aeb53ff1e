//! How a suite came out.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use tapewright_assertions::{Failure, Unjudged};
use tapewright_config::SourceSpot;
use tapewright_judges::Opinion;

use super::plan::Kind;
use crate::exit::Exit;

/// How a suite came out, row by row in the order of the suite.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) rows: Vec<Row>,
    /// What of the suite was not run at all, a line each.
    pub(crate) skipped: Vec<String>,
    /// What is said beside the rows: budgets that are advisory, gaps of a recording.
    pub(crate) notes: Vec<String>,
    /// Which tools a recording used, and which tests met them.
    pub(crate) tools: Vec<Tool>,
    /// From the first to the last.
    pub(crate) took: Duration,
    /// A test that no exchange exercised is as good as passed.
    pub(crate) allow_unexercised: bool,
    /// What was asked to stop early did.
    pub(crate) stopped: bool,
    /// No test at all is as good as passed.
    pub(crate) pass_with_no_tests: bool,
    /// How many tests are known to fail, and passed.
    pub(crate) stale: usize,
}

/// One test, once.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its place among the cases of the plan.
    pub(crate) case: usize,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) server: Option<String>,
    /// The revision of the protocol, where the suite names several.
    pub(crate) revision: Option<String>,
    pub(crate) status: Status,
    pub(crate) failures: Vec<Located<Failure>>,
    pub(crate) errors: Vec<Located<Unjudged>>,
    /// Why it was skipped, is inconclusive, or could not be judged as a whole.
    pub(crate) reasons: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// How long the call took; `None` where none was made.
    pub(crate) took: Option<Duration>,
    /// How often it was asked.
    pub(crate) asked: usize,
    /// It failed before it passed.
    pub(crate) flaky: bool,
    /// Served from a cassette.
    pub(crate) replay: bool,
    /// The stub stood in for a model: nothing is judged.
    pub(crate) stub: bool,
    /// What models took to answer; `None` where none was asked.
    pub(crate) cost: Option<Cost>,
    /// Which models were.
    pub(crate) models: BTreeSet<String>,
    /// What models thought of it.
    pub(crate) judgements: Vec<Judgement>,
    /// How many recorded exchanges it was judged by.
    pub(crate) exercised: Option<usize>,
    /// Where it stands in the suite.
    pub(crate) place: SourceSpot,
}

/// What models thought of something.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    /// By which matcher or metric they were asked.
    pub(crate) by: &'static str,
    pub(crate) opinion: Opinion,
    /// The recorded opinion, if they were asked again and it differs.
    pub(crate) was: Option<Opinion>,
}

/// A finding, where it stands in the suite, and which exchange it is about.
#[derive(Debug)]
pub(crate) struct Located<T> {
    pub(crate) what: T,
    pub(crate) place: SourceSpot,
    pub(crate) exchange: Option<ExchangeNumbers>,
}

/// An exchange of a recording, by the numbers of its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExchangeNumbers {
    /// The session; 0 where there is but one, or none.
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

/// What the answers of models took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    /// How often a model was asked.
    pub(crate) asked: u64,
    pub(crate) tokens: u64,
    /// In millionths of a US cent, as far as it is known.
    pub(crate) amount: u64,
    /// Whether all of it is known.
    pub(crate) is_known: bool,
}

impl Cost {
    /// Nothing was asked yet.
    pub(crate) const NONE: Self = Self {
        asked: 0,
        tokens: 0,
        amount: 0,
        is_known: true,
    };

    /// That of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            asked: self.asked + other.asked,
            tokens: self.tokens.saturating_add(other.tokens),
            amount: self.amount.saturating_add(other.amount),
            is_known: self.is_known && other.is_known,
        }
    }

    /// In dollars, exactly.
    pub(crate) fn dollars(self) -> String {
        const DOLLAR: u64 = 100_000_000;
        format!("{}.{:08}", self.amount / DOLLAR, self.amount % DOLLAR)
    }
}

/// `1234 tokens, $0.0042`; what is not known is not told as nothing.
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
    /// In dollars with at least four digits behind the point, and more where they count.
    fn short(self) -> String {
        let exact = self.dollars();
        let trimmed = exact.trim_end_matches('0');
        let decimals = trimmed.len() - trimmed.find('.').map_or(0, |at| at + 1);
        format!("{trimmed}{}", "0".repeat(4_usize.saturating_sub(decimals)))
    }
}

/// A tool of a recording.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) calls: usize,
    pub(crate) listed: bool,
    /// The names of the tests that met one of its calls.
    pub(crate) tests: Vec<String>,
}

/// How a row came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// A model has to judge it, and none can be asked.
    Deferred,
    /// It could not be judged: a mistake of the suite.
    Error,
    Fail,
    /// The evidence has gaps.
    Inconclusive,
    /// It failed, as is known of it.
    Known,
    /// No exchange of the recording asked it.
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

    /// The word of the reports for programs.
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

    /// The words for a count of them.
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

    /// What the caller is told.
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
        // Without a key there is nothing to judge, and a machine without keys stays green.
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
    /// Its name in reports: with the revision, where there are several.
    pub(crate) fn title(&self) -> String {
        match &self.revision {
            Some(revision) => format!("{} [{revision}]", self.name),
            None => self.name.clone(),
        }
    }
}
