//! Assertions and what stands beside them, compiled with their places.

use tapewright_assertions::{Assertion, Expectation, HeaderRule, LoadError, TokenBudget, compile};
use tapewright_config::suite::expect::{self, Expect};
use tapewright_config::{Code, Issue, Place, Severity, Suite};

use super::Plan;

/// Compiles, and collects what is wrong.
pub(super) struct Compiler<'s> {
    suite: &'s Suite,
    issues: Vec<Issue>,
}

impl<'s> Compiler<'s> {
    pub(super) fn new(suite: &'s Suite) -> Self {
        Self {
            suite,
            issues: Vec::new(),
        }
    }

    /// A test's expectation, and behind its own assertions those of the default test.
    pub(super) fn expectation(
        &mut self,
        expect: &Expect,
        default: Option<&Expect>,
    ) -> (Expectation, Vec<Place>) {
        let (mut assertions, mut places) = self.assertions(&expect.assertions);
        if let Some(default) = default {
            let (more, behind) = self.assertions(&default.assertions);
            assertions.extend(more);
            places.extend(behind);
        }
        let first = |pick: fn(&Expect) -> bool| {
            let own = pick(expect).then_some(expect);
            own.or(default.filter(|default| pick(default)))
        };
        let milliseconds = |time: std::time::Duration| u64::try_from(time.as_millis());
        let tokens = first(|one| one.max_response_tokens.is_some());
        let tokens = tokens.and_then(|one| one.max_response_tokens.as_ref());
        let tokens = tokens
            .and_then(|written| self.kept(&written.place, TokenBudget::compile(&written.value)));
        let headers = first(|one| !one.response_headers.is_empty());
        let headers = headers.map_or(&[][..], |one| one.response_headers.as_slice());
        let rules = headers
            .iter()
            .filter_map(|(name, written)| {
                self.kept(&written.place, HeaderRule::compile(name, &written.value))
            })
            .collect();
        let absent = first(|one| !one.response_headers_absent.is_empty());
        let duration = first(|one| one.max_duration.is_some());
        let expectation = Expectation {
            assertions,
            max_duration_ms: duration
                .and_then(|one| one.max_duration)
                .and_then(|time| milliseconds(time).ok()),
            max_response_tokens: tokens,
            response_headers: rules,
            response_headers_absent: absent
                .map(|one| one.response_headers_absent.clone())
                .unwrap_or_default(),
        };
        (expectation, places)
    }

    /// Assertions, and where each of them stands.
    pub(super) fn assertions(
        &mut self,
        written: &[expect::Assertion],
    ) -> (Vec<Assertion>, Vec<Place>) {
        let mut assertions = Vec::with_capacity(written.len());
        let mut places = Vec::with_capacity(written.len());
        for one in written {
            if let Some(assertion) = self.kept(&one.place, compile(&one.value)) {
                assertions.push(assertion);
                places.push(self.suite.place(&one.place, "/matcher"));
            }
        }
        (assertions, places)
    }

    /// The plan, unless something is wrong.
    pub(super) fn finish(self, plan: Plan) -> Result<Plan, Vec<Issue>> {
        if self.issues.is_empty() {
            Ok(plan)
        } else {
            Err(self.issues)
        }
    }

    fn kept<T>(&mut self, base: &Place, compiled: Result<T, LoadError>) -> Option<T> {
        match compiled {
            Ok(value) => Some(value),
            Err(error) => {
                self.issues.push(Issue {
                    code: Code::Assertion,
                    severity: Severity::Error,
                    place: Some(self.suite.place(base, &error.pointer)),
                    message: error.message,
                    help: error.help,
                });
                None
            }
        }
    }
}
