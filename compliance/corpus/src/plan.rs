//! The rules of a version, ready to be tested, and the result of each.

use std::time::Duration;

use crate::inventory::ServerInventory;
use crate::judge::Assertion;
use crate::rule::{Applies, RegisteredRule, Registry, Rule};
use crate::verdict::{Untested, Verdict};
use crate::version::VersionCorpus;

/// The rules of a version that are tested.
#[derive(Debug)]
pub struct Plan {
    /// The version, as its folder is called.
    pub version: String,
    /// The rules in the order of the registry.
    pub rules: Vec<Planned>,
    /// Ids that the corpus has and the registry has not: they are not tested.
    pub unregistered: Vec<String>,
}

/// A rule that is tested.
#[derive(Debug)]
pub struct Planned {
    /// Its entry in the registry.
    pub registered: RegisteredRule,
    /// Its tests; empty if the corpus has none.
    pub assertions: Vec<Assertion>,
    /// The transports on which it is tested.
    pub transports: Vec<Applies>,
}

/// An assertion of a plan: the numbers of the rule and of the assertion within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssertionIndex {
    /// The index of the rule.
    pub rule: usize,
    /// The index of the assertion.
    pub assertion: usize,
}

/// The verdicts on the assertions of a plan so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    // By the numbers of a rule and of an assertion within it.
    verdicts: Vec<Vec<Option<Counted>>>,
}

#[derive(Clone, Debug)]
struct Counted {
    verdict: Verdict,
    took: Duration,
}

/// The result of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The number of the rule in its plan.
    pub rule: usize,
    /// The result.
    pub state: State,
    /// How long its tests took.
    pub took: Duration,
}

/// The result of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It holds, in this many assertions.
    Pass {
        /// The number of assertions that were tested.
        tested: usize,
        /// The number of assertions.
        of: usize,
    },
    /// It does not hold: what failed, as text, with the number in the recording.
    Fail(Vec<Broken>),
    /// It was not exercised.
    Untested(Untested),
    /// It does not count here.
    Inapplicable(Inapplicable),
}

impl State {
    /// Combines two tests of one rule, with two servers or by two programs: one failure is enough,
    /// and one success outweighs an inconclusive result.
    #[must_use]
    pub fn beside(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fail(mut one), Self::Fail(other)) => {
                one.extend(other);
                Self::Fail(one)
            }
            (Self::Fail(one), _) | (_, Self::Fail(one)) => Self::Fail(one),
            (
                Self::Pass { tested, of },
                Self::Pass {
                    tested: more,
                    of: all,
                },
            ) => Self::Pass {
                tested: tested + more,
                of: of + all,
            },
            (Self::Pass { tested, of }, _) | (_, Self::Pass { tested, of }) => {
                Self::Pass { tested, of }
            }
            (Self::Untested(one), _) | (_, Self::Untested(one)) => Self::Untested(one),
            (one @ Self::Inapplicable(_), Self::Inapplicable(_)) => one,
        }
    }
}

/// An assertion of a rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// What the assertion is about, if given.
    pub about: Option<String>,
    /// The failure.
    pub what: String,
    /// The number in the recording.
    pub seq: Option<u64>,
    /// The index of the recording.
    pub recording: usize,
}

/// Why a rule does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inapplicable {
    /// The revision does not have it.
    #[error("not part of this version")]
    Version,
    /// It is about another transport.
    #[error("applies to another transport")]
    Transport,
    /// The server does not declare the capability.
    #[error("the server does not declare `{0}`")]
    Capability(String),
    /// The server never sends its client such a request.
    #[error("the server never asked its client for {0}")]
    Unused(String),
}

/// The facts that decide which rules apply.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The transports that were used; if empty, none is excluded.
    pub transports: Vec<Applies>,
    /// The server's capabilities and lists.
    pub known: ServerInventory,
    /// Capabilities that were given in the server's place.
    pub named: Option<Vec<String>>,
}

/// Prefix of client capabilities that a rule is about: whether a server uses them shows in the
/// traffic, not in declarations.
const OF_CLIENTS: &str = "client:";

impl Plan {
    /// The rules of a registry, with their tests in a corpus.
    #[must_use]
    pub fn new(registry: &Registry, corpus: &VersionCorpus) -> Self {
        let planned = |registered: &RegisteredRule| {
            let rule = corpus.rule(&registered.id);
            Planned {
                assertions: rule.map(assertions).unwrap_or_default(),
                transports: transports(registered, rule),
                registered: registered.clone(),
            }
        };
        let known = |rule: &&Rule| !registry.rules.iter().any(|one| one.id == rule.id);
        Self {
            version: corpus.version.clone(),
            rules: registry.rules.iter().map(planned).collect(),
            unregistered: corpus
                .rules
                .iter()
                .filter(known)
                .map(|rule| rule.id.clone())
                .collect(),
        }
    }

    /// All assertions, in order.
    pub fn each(&self) -> impl Iterator<Item = (AssertionIndex, &Assertion)> {
        self.rules.iter().enumerate().flat_map(|(rule, planned)| {
            let each = planned.assertions.iter().enumerate();
            each.map(move |(assertion, one)| (AssertionIndex { rule, assertion }, one))
        })
    }

    /// An assertion.
    #[must_use]
    pub fn assertion(&self, at: AssertionIndex) -> Option<&Assertion> {
        self.rules.get(at.rule)?.assertions.get(at.assertion)
    }

    /// Why a rule does not count, if it does not.
    #[must_use]
    pub fn inapplicable(&self, rule: usize, facts: &Facts) -> Option<Inapplicable> {
        let planned = self.rules.get(rule)?;
        if !planned.registered.spec_versions.contains(&self.version) {
            return Some(Inapplicable::Version);
        }
        let on = |transport: &Applies| planned.transports.contains(transport);
        if !facts.transports.is_empty() && !facts.transports.iter().any(on) {
            return Some(Inapplicable::Transport);
        }
        let capability = planned.registered.applicability.as_deref();
        let lacking = capability.filter(|name| facts.lacks(name))?;
        Some(Inapplicable::Capability(lacking.to_owned()))
    }

    /// The result of every rule.
    #[must_use]
    pub fn outcomes(&self, tally: &Tally, facts: &Facts) -> Vec<Outcome> {
        let outcome = |rule: usize| {
            let state = match self.inapplicable(rule, facts) {
                Some(why) => State::Inapplicable(why),
                None => match self.unused(rule, tally) {
                    Some(why) => State::Inapplicable(why),
                    None => self.state(rule, tally),
                },
            };
            let took = tally.took(rule);
            Outcome { rule, state, took }
        };
        (0..self.rules.len()).map(outcome).collect()
    }

    /// A feature of the client that a rule is about and that the server never requested, as far as
    /// was seen.
    fn unused(&self, rule: usize, tally: &Tally) -> Option<Inapplicable> {
        let about = |planned: &Planned| {
            let name = planned.registered.applicability.as_deref();
            name?.strip_prefix(OF_CLIENTS).map(str::to_owned)
        };
        let name = about(self.rules.get(rule)?)?;
        let asked = self.each().any(|(at, assertion)| {
            let here = self.rules.get(at.rule).and_then(about);
            here.as_ref() == Some(&name)
                && assertion.written.expect.server_request.is_some()
                && matches!(
                    tally.get(at),
                    Verdict::Pass | Verdict::Fail(_) | Verdict::Untested(Untested::Declined)
                )
        });
        (!asked).then_some(Inapplicable::Unused(name))
    }

    fn state(&self, rule: usize, tally: &Tally) -> State {
        let assertions = self.rules.get(rule).map_or(&[][..], |one| &one.assertions);
        let mut all = Verdict::Untested(Untested::NotAsked);
        if assertions.is_empty() {
            all = Verdict::Untested(Untested::NoTest);
        }
        let (mut broken, mut tested) = (Vec::new(), 0);
        for (assertion, one) in assertions.iter().enumerate() {
            let verdict = tally.get(AssertionIndex { rule, assertion });
            match &verdict {
                Verdict::Fail(failure) => broken.push(Broken {
                    about: one.written.description.clone(),
                    what: failure.to_string(),
                    seq: failure.seq,
                    recording: failure.recording,
                }),
                Verdict::Pass => tested += 1,
                Verdict::Untested(_) => {}
            }
            all = all.merge(verdict);
        }
        match all {
            Verdict::Fail(_) => State::Fail(broken),
            Verdict::Untested(why) => State::Untested(why),
            Verdict::Pass => {
                let of = assertions.len();
                State::Pass { tested, of }
            }
        }
    }
}

/// Whether the applicability of a rule is a capability that servers declare.
#[must_use]
pub fn is_capability(applicability: &str) -> bool {
    let others = ["", "always", "authorization", "http:session"];
    !others.contains(&applicability) && !applicability.starts_with(OF_CLIENTS)
}

impl Facts {
    /// Whether the server does not have a capability, as far as it has declared its capabilities.
    /// Client capabilities are never lacking: whether a server uses them shows in the traffic. So
    /// does whether it requires authorization or issues session ids.
    #[must_use]
    pub fn lacks(&self, capability: &str) -> bool {
        match capability {
            "authorization" => return !self.known.shown.authorization,
            "http:session" => return !self.known.shown.sessions,
            _ if !is_capability(capability) => return false,
            _ => {}
        }
        let root = capability.split('.').next().unwrap_or_default();
        match &self.named {
            Some(named) => !named.iter().any(|one| one == root || one == capability),
            None => self.known.declares(capability) == Some(false),
        }
    }
}

impl Tally {
    /// Takes a verdict on an assertion.
    pub fn add(&mut self, at: AssertionIndex, verdict: Verdict, took: Duration) {
        match self.slot(at) {
            None => {}
            Some(slot @ None) => *slot = Some(Counted { verdict, took }),
            Some(Some(known)) => {
                known.took = known.took.saturating_add(took);
                // The first failure is reported; later results do not matter.
                if !known.verdict.is_fail() {
                    let before = std::mem::replace(&mut known.verdict, Verdict::Pass);
                    known.verdict = before.merge(verdict);
                }
            }
        }
    }

    /// Adds a verdict that is already known: only the duration is new, and not even that once the
    /// assertion has failed.
    pub(crate) fn take(&mut self, at: AssertionIndex, took: Duration) {
        if let Some(Some(known)) = self.slot(at)
            && !known.verdict.is_fail()
        {
            known.took = known.took.saturating_add(took);
        }
    }

    /// The verdict on an assertion so far.
    #[must_use]
    pub fn get(&self, at: AssertionIndex) -> Verdict {
        self.counted(at)
            .map_or(Verdict::Untested(Untested::NotAsked), |one| {
                one.verdict.clone()
            })
    }

    /// Whether an assertion has failed already.
    #[must_use]
    pub fn has_failed(&self, at: AssertionIndex) -> bool {
        self.counted(at).is_some_and(|one| one.verdict.is_fail())
    }

    fn counted(&self, at: AssertionIndex) -> Option<&Counted> {
        self.verdicts.get(at.rule)?.get(at.assertion)?.as_ref()
    }

    /// The slot of an assertion, created if missing.
    fn slot(&mut self, at: AssertionIndex) -> Option<&mut Option<Counted>> {
        if self.verdicts.len() <= at.rule {
            self.verdicts.resize(at.rule + 1, Vec::new());
        }
        let rule = self.verdicts.get_mut(at.rule)?;
        if rule.len() <= at.assertion {
            rule.resize(at.assertion + 1, None);
        }
        rule.get_mut(at.assertion)
    }

    fn took(&self, rule: usize) -> Duration {
        let of_rule = self.verdicts.get(rule).into_iter().flatten().flatten();
        of_rule.map(|one| one.took).sum()
    }
}

fn assertions(rule: &Rule) -> Vec<Assertion> {
    rule.assertions
        .iter()
        .cloned()
        .map(Assertion::new)
        .collect()
}

/// The transports on which a rule is tested: those in both the registry and the corpus.
fn transports(registered: &RegisteredRule, rule: Option<&Rule>) -> Vec<Applies> {
    let narrower = rule
        .map(|rule| rule.applies_to.as_slice())
        .unwrap_or_default();
    let on = |one: &&Applies| narrower.is_empty() || narrower.contains(one);
    registered.applies_to.iter().filter(on).copied().collect()
}
