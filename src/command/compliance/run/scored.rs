//! The outcomes of the rules, and the score they make.

use std::path::PathBuf;
use std::time::Duration;

use tapewright_corpus::official::OurRule;
use tapewright_corpus::plan::{Inapplicable, State};
use tapewright_corpus::rule::{RegisteredRule, Severity};
use tapewright_corpus::score::{self, Scorecard};

use super::baseline::Expectations;
use crate::command::compliance::Official;
use crate::corpus::Run;
use crate::exit::Exit;

/// Everything that is reported about a run.
#[derive(Debug)]
pub(crate) struct Scored {
    /// The name of the server.
    pub(crate) server: String,
    /// The version of the rules; `None` where results came from a file.
    pub(crate) version: Option<String>,
    /// The revision that the server uses, if known.
    pub(crate) revision: Option<String>,
    /// The recordings that were judged, in the order in which they began.
    pub(crate) recordings: Vec<String>,
    /// Every rule of the registry.
    pub(crate) rules: Vec<Judged>,
    /// Results that belong to no rule of the registry.
    pub(crate) others: Vec<Other>,
    /// The grade.
    pub(crate) card: Scorecard,
    /// Gates of a suite.
    pub(crate) gates: Vec<Gate>,
    /// The result of applying a baseline.
    pub(crate) expectations: Option<Expectations>,
    /// Notes to print next to it.
    pub(crate) notes: Vec<String>,
    /// Whether the evidence has gaps.
    pub(crate) gaps: bool,
    /// The results of the official suite for the same server.
    pub(crate) official: Option<Official>,
    /// The baseline that a suite names.
    pub(crate) known: Option<PathBuf>,
}

/// A rule with its outcome.
#[derive(Debug)]
pub(crate) struct Judged {
    /// The rule.
    pub(crate) rule: RegisteredRule,
    /// The outcome.
    pub(crate) state: State,
    /// How long its tests took.
    pub(crate) took: Duration,
    /// Who tested it: `local`, or `official`.
    pub(crate) source: String,
}

/// A result that belongs to no rule of the registry.
#[derive(Debug)]
pub(crate) struct Other {
    /// Its id.
    pub(crate) id: String,
    /// Whether it passed.
    pub(crate) passed: bool,
    /// The reason, if it failed.
    pub(crate) message: Option<String>,
    /// Who tested it.
    pub(crate) source: String,
    /// How long it took.
    pub(crate) took: Duration,
}

/// A gate of a suite.
#[derive(Debug)]
pub(crate) struct Gate {
    /// `grade_delta` or `spec_version_check`.
    pub(crate) name: &'static str,
    /// Whether it holds.
    pub(crate) passed: bool,
    /// What it compared, and the reason if it does not hold.
    pub(crate) text: String,
}

impl Scored {
    /// Scores the outcomes of rules.
    pub(crate) fn new(server: String, rules: Vec<Judged>) -> Self {
        let card = score::score(rules.iter().map(|one| (&one.rule, &one.state)));
        Self {
            server,
            version: None,
            revision: None,
            recordings: Vec::new(),
            rules,
            others: Vec::new(),
            card,
            gates: Vec::new(),
            expectations: None,
            notes: Vec::new(),
            gaps: false,
            official: None,
            known: None,
        }
    }

    /// Scores the run of a corpus.
    pub(crate) fn of(server: String, run: Run) -> Self {
        let Run {
            plan,
            outcomes,
            revision,
            mut notes,
            gaps,
            ..
        } = run;
        if !plan.unregistered.is_empty() {
            let rules = plan.unregistered.join(", ");
            notes.push(format!(
                "the registry does not have these rules of the corpus: {rules}"
            ));
        }
        let judged = plan.rules.into_iter().zip(outcomes);
        let judged = judged.map(|(planned, outcome)| Judged {
            rule: planned.registered,
            state: outcome.state,
            took: outcome.took,
            source: LOCAL.to_owned(),
        });
        Self {
            version: Some(plan.version),
            revision: Some(revision),
            notes,
            gaps,
            ..Self::new(server, judged.collect())
        }
    }

    /// The outcome of each rule, to compare with other runs against the same server.
    pub(crate) fn as_rules(&self) -> Vec<OurRule> {
        let ours = |one: &Judged| {
            let (holds, detail) = match &one.state {
                State::Pass { .. } => (Some(true), String::new()),
                State::Fail(broken) => {
                    let why = broken.first().map(|one| one.what.clone());
                    (Some(false), why.unwrap_or_default())
                }
                State::Untested(why) => (None, why.to_string()),
                State::Inapplicable(why) => (None, why.to_string()),
            };
            OurRule {
                rule: one.rule.id.clone(),
                holds,
                detail,
            }
        };
        self.rules.iter().map(ours).collect()
    }

    /// Merges this score with that of another server: one failure of a rule is enough.
    pub(crate) fn beside(mut self, other: Self) -> Self {
        for (one, other) in self.rules.iter_mut().zip(other.rules) {
            one.took += other.took;
            one.state = one.state.clone().beside(other.state);
        }
        self.notes.extend(other.notes);
        self.gaps |= other.gaps;
        self
    }

    /// The rules that apply.
    pub(crate) fn applicable(&self) -> impl Iterator<Item = &Judged> {
        self.rules
            .iter()
            .filter(|one| !matches!(one.state, State::Inapplicable(_)))
    }

    /// The rules that do not apply, and why; those of other versions are left out.
    pub(crate) fn inapplicable(&self) -> impl Iterator<Item = (&Judged, &Inapplicable)> {
        self.rules.iter().filter_map(|one| match &one.state {
            State::Inapplicable(why) if *why != Inapplicable::Version => Some((one, why)),
            _ => None,
        })
    }

    /// The rules that could not be tested because evidence is missing.
    pub(crate) fn inconclusive(&self) -> impl Iterator<Item = &str> {
        let missing = |one: &&Judged| matches!(&one.state, State::Untested(why) if why.is_gap());
        self.rules
            .iter()
            .filter(missing)
            .map(|one| one.rule.id.as_str())
    }

    /// Whether a failure is expected by the baseline.
    pub(crate) fn is_expected(&self, id: &str) -> bool {
        self.expectations
            .as_ref()
            .is_some_and(|known| known.expected.contains(id))
    }

    /// The ids that failed: of rules, and of other results.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &str> {
        let rules = self
            .rules
            .iter()
            .filter(|one| matches!(one.state, State::Fail(_)));
        let others = self.others.iter().filter(|one| !one.passed);
        rules
            .map(|one| one.rule.id.as_str())
            .chain(others.map(|one| one.id.as_str()))
    }

    /// The ids that passed.
    pub(crate) fn passed(&self) -> impl Iterator<Item = &str> {
        let rules = self
            .rules
            .iter()
            .filter(|one| matches!(one.state, State::Pass { .. }));
        let others = self.others.iter().filter(|one| one.passed);
        rules
            .map(|one| one.rule.id.as_str())
            .chain(others.map(|one| one.id.as_str()))
    }

    /// The exit status.
    pub(crate) fn exit(&self) -> Exit {
        let must = |one: &&Judged| {
            matches!(one.state, State::Fail(_)) && one.rule.severity == Severity::Must
        };
        let fails = match &self.expectations {
            Some(known) => !known.regressions.is_empty() || !known.stale.is_empty(),
            None => {
                self.rules.iter().any(|one| must(&one)) || self.others.iter().any(|one| !one.passed)
            }
        };
        if fails || self.gates.iter().any(|gate| !gate.passed) {
            Exit::Fail
        } else if self.gaps
            || self.inconclusive().next().is_some()
            || (self.card.tested == 0 && self.others.is_empty())
        {
            Exit::Inconclusive
        } else {
            Exit::Pass
        }
    }
}

/// The source of rules that were tested by tapewright.
pub(crate) const LOCAL: &str = "local";
