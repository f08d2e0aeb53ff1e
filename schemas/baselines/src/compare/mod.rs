//! How a candidate differs from a baseline.
//!
//! Exchanges are paired by their ids, never by their positions. Differences are classified by the
//! table of the format; differences between runs of the same model are noise.

mod arguments;
mod aspect;
mod calls;
mod content;
mod entry;
mod identity;
mod noise;

use tapewright_models::agent_cassette::Ended;

pub use self::entry::{
    ArgumentChange, ArgumentKind, Category, Change, Entry, Severity, TextChange,
};
pub use self::identity::{Field, IdentityChange};
use crate::file::{Answer, Baseline, Exchange};
use crate::fingerprint::Fingerprint;
use crate::glob::Glob;
use crate::invariant::Violation;

/// How two captures are compared.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only exchanges whose ids it takes.
    pub filter: Option<Glob>,
    /// Continue the comparison although the configuration of the server differs.
    pub ignore_config: bool,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Differences between the captures themselves.
    pub identity: Vec<IdentityChange>,
    /// The configuration of the server differs: the baseline is not applicable to the candidate,
    /// and nothing was compared.
    pub is_invalid: bool,
    /// The differences, in the order of the ids.
    pub entries: Vec<Entry>,
    /// Whether the invariants hold.
    pub invariants: Vec<InvariantResult>,
    /// The fingerprints.
    pub fingerprint: Fingerprint,
    /// The number of exchanges that both have.
    pub paired: usize,
}

/// Whether an invariant holds for an exchange of the candidate, in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvariantResult {
    /// The id of the exchange.
    pub test_id: String,
    /// The name of the invariant.
    pub name: String,
    /// Why it does not hold.
    pub violation: Option<Violation>,
}

/// The overall result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing differs but noise.
    Pass,
    /// There is drift, and no failure.
    Drift,
    /// Something failed.
    Fail,
    /// Nothing could be compared: see [`Comparison::is_invalid`].
    Invalid,
    /// There was nothing to compare.
    Empty,
}

/// The number of entries of each kind; noise is not counted as anything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The total.
    pub total: usize,
    /// Exchanges that are the same.
    pub pass: usize,
    /// Allowed differences.
    pub drift: usize,
    /// Failures.
    pub fail: usize,
    /// Differences that the same model shows against itself.
    pub noise: usize,
}

impl Comparison {
    /// The number of entries of each kind.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for entry in &self.entries {
            summary.total += 1;
            let count = match entry.severity {
                _ if entry.is_noise => &mut summary.noise,
                Severity::Pass => &mut summary.pass,
                Severity::Drift => &mut summary.drift,
                Severity::Fail => &mut summary.fail,
            };
            *count += 1;
        }
        summary
    }

    /// The overall result.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let summary = self.summary();
        match () {
            () if self.is_invalid => Outcome::Invalid,
            () if summary.fail > 0 => Outcome::Fail,
            () if summary.drift > 0 => Outcome::Drift,
            () if self.paired == 0 => Outcome::Empty,
            () => Outcome::Pass,
        }
    }
}

/// Compares a candidate with a baseline, by the invariants of the baseline.
#[must_use]
pub fn compare(baseline: &Baseline, candidate: &Baseline, options: &Options) -> Comparison {
    let identity = identity::changes(baseline, candidate);
    let config = |one: &IdentityChange| one.field == Field::ServerConfigHash;
    let is_invalid = !options.ignore_config && identity.iter().any(config);
    let before = chosen(baseline, options);
    let after = chosen(candidate, options);
    let mut comparison = Comparison {
        identity,
        is_invalid,
        entries: Vec::new(),
        invariants: Vec::new(),
        fingerprint: Fingerprint::of(&before, &after),
        paired: 0,
    };
    if !is_invalid {
        comparison.pair(baseline, &before, &after, candidate.runs);
    }
    comparison
}

/// The exchanges to compare, ordered by id.
fn chosen<'b>(all: &'b Baseline, options: &Options) -> Vec<&'b Exchange> {
    let takes = |exchange: &&Exchange| {
        let filter = options.filter.as_ref();
        filter.is_none_or(|filter| filter.takes(&exchange.id))
    };
    let mut chosen: Vec<&Exchange> = all.exchanges.iter().filter(takes).collect();
    chosen.sort_by(|one, other| one.id.cmp(&other.id));
    chosen
}

impl Comparison {
    /// Walks both sides in parallel.
    fn pair(&mut self, baseline: &Baseline, before: &[&Exchange], after: &[&Exchange], runs: u64) {
        let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
        loop {
            let order = match (before.peek(), after.peek()) {
                (None, None) => return,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(one), Some(other)) => one.id.cmp(&other.id),
            };
            let one = if order.is_le() { before.next() } else { None };
            let other = if order.is_ge() { after.next() } else { None };
            match (one, other) {
                (Some(one), Some(other)) => self.both(baseline, one, other),
                (Some(one), None) => self.lone(one, baseline.runs, Change::OnlyInBaseline),
                (None, Some(other)) => self.lone(other, runs, Change::OnlyInCandidate),
                (None, None) => return,
            }
        }
    }

    /// An exchange that only one side has. It is noise if it did not occur in every run of its own
    /// model.
    fn lone(&mut self, exchange: &Exchange, runs: u64, change: Change) {
        let is_noise = exchange.seen.is_some_and(|seen| seen < runs);
        self.entries.push(Entry {
            is_noise,
            ..Entry::new(&exchange.id, change)
        });
    }

    fn both(&mut self, baseline: &Baseline, before: &Exchange, after: &Exchange) {
        self.paired += 1;
        let changes = noise::changes(before, after);
        let is_same = changes.is_empty();
        let entries = changes.into_iter().map(|(change, is_noise)| Entry {
            is_noise,
            ..Entry::new(&before.id, change)
        });
        self.entries.extend(entries);
        let ended_well = matches!(after.answer.finish_reason, Ended::Stop | Ended::ToolUse);
        if is_same && ended_well {
            self.entries.push(Entry::new(&before.id, Change::Same));
        }
        for invariant in &baseline.invariants {
            if !invariant.is_about(&after.id) {
                continue;
            }
            let mut answers = after.answers();
            let violation = answers.find_map(|answer| invariant.condition.check(answer).err());
            if let Some(violation) = &violation {
                let change = Change::Invariant {
                    name: invariant.name.clone(),
                    violation: violation.clone(),
                };
                self.entries.push(Entry::new(&before.id, change));
            }
            self.invariants.push(InvariantResult {
                test_id: after.id.clone(),
                name: invariant.name.clone(),
                violation,
            });
        }
    }
}

/// Every difference between two answers.
fn differences(before: &Answer, after: &Answer) -> Vec<Change> {
    let mut changes = Vec::new();
    calls::compare(&before.tool_calls, &after.tool_calls, &mut changes);
    content::compare(&before.content, &after.content, &mut changes);
    if before.finish_reason != after.finish_reason {
        changes.push(Change::Finish {
            before: before.finish_reason,
            after: after.finish_reason,
        });
    }
    changes
}
