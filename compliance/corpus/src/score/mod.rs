//! Computes a grade from the results of rules.
//!
//! The rubric v1: F if a MUST failed; else by the share of SHOULDs that hold, D below a half, C
//! below four fifths, B below all of them, A; and A+ if each section that has MAYs has one that
//! holds. The number is the sum of `MUSTs + SHOULDs / 2 + MAYs / 10` that hold, as a percentage of
//! those that were tested.
//!
//! An untested rule is neither a failure nor a success: it does not affect the grade, and lowers
//! the completeness, which is shown next to it. A rule that does not apply is not counted at all.

mod delta;
mod grade;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use self::delta::{Delta, delta};
pub use self::grade::{Counts, Grade};
use crate::plan::State;
use crate::rule::{RegisteredRule, Section, Severity};

/// The version of the rubric.
pub const RUBRIC: &str = "v1";

/// All sections, in the order of reports.
pub const SECTIONS: [Section; 5] = [
    Section::Lifecycle,
    Section::Tools,
    Section::Resources,
    Section::Prompts,
    Section::TransportAuth,
];

/// A grade, and what it was computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorecard {
    /// The grade; `None` if nothing was tested.
    pub grade: Option<Grade>,
    /// From 0 to 100; `None` if nothing was tested.
    pub numeric: Option<f64>,
    /// The share of the applicable rules that were tested, from 0 to 1; 0 if none applies.
    pub completeness: f64,
    /// The number of rules that were tested.
    pub tested: usize,
    /// The number of rules that apply.
    pub applicable: usize,
    /// The counts over all sections.
    pub counts: Counts,
    /// Each section.
    pub sections: Vec<SectionScore>,
    /// The MUSTs that failed.
    pub failed_must: Vec<String>,
    /// For each section, the MAYs of which one must hold for the best grade.
    pub missing_for_a_plus: Vec<(Section, Vec<String>)>,
}

/// The grade of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionScore {
    /// The section.
    pub section: Section,
    /// Its grade; `None` if none of its rules was tested.
    pub grade: Option<Grade>,
    /// Whether any of its rules applies.
    pub applicable: bool,
    /// The counts of its rules.
    pub counts: Counts,
    /// The number of its rules that apply but were not tested.
    pub untested: usize,
}

/// Scores rules by their results.
#[must_use]
pub fn score<'r>(rules: impl IntoIterator<Item = (&'r RegisteredRule, &'r State)>) -> Scorecard {
    let mut sections: BTreeMap<Section, Tested> = BTreeMap::new();
    let mut failed_must = Vec::new();
    for (rule, state) in rules {
        let section = sections.entry(rule.section).or_default();
        if matches!(state, State::Fail(_)) && rule.severity == Severity::Must {
            failed_must.push(rule.id.clone());
        }
        section.add(rule, state);
    }
    let mut all = Counts::default();
    let (mut applicable, mut missing) = (0, Vec::new());
    let mut scores = Vec::new();
    for section in SECTIONS {
        let tested = sections.remove(&section).unwrap_or_default();
        all.add(&tested.counts);
        applicable += tested.counts.total() + tested.untested;
        if tested.lacks_may() {
            missing.push((section, tested.may_open.clone()));
        }
        scores.push(tested.score(section));
    }
    let tested = all.total();
    Scorecard {
        grade: all.grade(!missing.is_empty()),
        numeric: all.numeric(),
        completeness: share(tested, applicable),
        tested,
        applicable,
        counts: all,
        sections: scores,
        failed_must,
        missing_for_a_plus: missing,
    }
}

/// The rules of a section.
#[derive(Clone, Debug, Default)]
struct Tested {
    counts: Counts,
    untested: usize,
    // The MAYs that apply and do not hold.
    may_open: Vec<String>,
}

impl Tested {
    fn add(&mut self, rule: &RegisteredRule, state: &State) {
        let is_may = rule.severity == Severity::May;
        match state {
            State::Inapplicable(_) => return,
            State::Untested(_) => self.untested += 1,
            State::Pass { .. } => return self.counts.count(rule.severity, true),
            State::Fail(_) => self.counts.count(rule.severity, false),
        }
        if is_may {
            self.may_open.push(rule.id.clone());
        }
    }

    /// Whether the section has MAYs, but none holds.
    fn lacks_may(&self) -> bool {
        !self.may_open.is_empty() && self.counts.may_passed == 0
    }

    fn score(self, section: Section) -> SectionScore {
        SectionScore {
            section,
            grade: self.counts.grade(self.lacks_may()),
            applicable: self.counts.total() + self.untested > 0,
            counts: self.counts,
            untested: self.untested,
        }
    }
}

impl Scorecard {
    /// What would lead to a better grade, as a sentence; `None` if there is no better one.
    #[must_use]
    pub fn promotion_hint(&self) -> Option<String> {
        let counts = &self.counts;
        let open = counts.should_total - counts.should_passed;
        match self.grade? {
            Grade::F => Some(format!(
                "fix the failed MUSTs: {}",
                self.failed_must.join(", ")
            )),
            Grade::D | Grade::C | Grade::B => Some(format!("fix the {open} failed SHOULDs")),
            Grade::A => {
                let rules = self.missing_for_a_plus.iter().flat_map(|(_, rules)| rules);
                let rules: Vec<&str> = rules.map(String::as_str).collect();
                Some(format!(
                    "for A+, one MAY of each section: {}",
                    rules.join(", ")
                ))
            }
            Grade::APlus => None,
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    grade::ratio(part, whole)
}

/// The name of a section in reports and registries.
#[must_use]
pub fn section_name(section: Section) -> &'static str {
    match section {
        Section::Lifecycle => "lifecycle",
        Section::Tools => "tools",
        Section::Resources => "resources",
        Section::Prompts => "prompts",
        Section::TransportAuth => "transport-auth",
    }
}
