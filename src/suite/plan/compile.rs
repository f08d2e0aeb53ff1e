//! Compiles assertions and the fields next to them, with their places.

use std::sync::Arc;

use tapewright_assertions::{Assertion, Expectation, HeaderRule, LoadError, TokenBudget, compile};
use tapewright_config::suite::expect::{self, Expect};
use tapewright_config::{Code, Issue, Severity, SourceSpot, Suite};

use super::targets::{Nowhere, Seen};
use super::{Plan, embeds};

/// Compiles, and collects errors.
pub(super) struct Compiler<'s> {
    suite: &'s Suite,
    issues: Vec<Issue>,
    default: Compiled,
}

/// A compiled block `expect`, shared by all tests that use it.
#[derive(Default)]
struct Compiled {
    assertions: Vec<Arc<Assertion>>,
    places: Vec<SourceSpot>,
    max_duration_ms: Option<u64>,
    max_response_tokens: Option<TokenBudget>,
    response_headers: Vec<Arc<HeaderRule>>,
    response_headers_absent: Vec<String>,
}

/// The fields next to assertions.
const FIELDS: [&str; 4] = [
    "max_duration_ms",
    "max_response_tokens",
    "response_headers",
    "response_headers_absent",
];

impl<'s> Compiler<'s> {
    pub(super) fn new(suite: &'s Suite) -> Self {
        let mut compiler = Self {
            suite,
            issues: Vec::new(),
            default: Compiled::default(),
        };
        let seen = Seen::of_default(suite);
        compiler.default = compiler.block(&suite.default_test.expect, seen);
        compiler
    }

    /// The places of the fields next to a test's assertions.
    pub(super) fn fields(&self, test: &SourceSpot) -> Vec<(&'static str, SourceSpot)> {
        self.fields_of(&self.suite.place(test, "/expect"))
    }

    /// Like `fields`, for a test of a tool: followed by the fields of the default test, which count
    /// if the test lacks them.
    pub(super) fn fields_with_default(&self, test: &SourceSpot) -> Vec<(&'static str, SourceSpot)> {
        let mut fields = self.fields(test);
        let default = self.suite.default_test.expect_place.as_ref();
        fields.extend(
            default
                .map(|expect| self.fields_of(expect))
                .into_iter()
                .flatten(),
        );
        fields
    }

    fn fields_of(&self, expect: &SourceSpot) -> Vec<(&'static str, SourceSpot)> {
        let place = |field: &'static str| {
            let place = self.suite.key_place(expect, &format!("/{field}"));
            // A missing field would have the place of its block.
            (place.span != expect.span).then_some((field, place))
        };
        FIELDS.into_iter().filter_map(place).collect()
    }

    /// The expectation of a test, and the places of its assertions.
    pub(super) fn expectation(
        &mut self,
        expect: &Expect,
        seen: Seen<'_>,
    ) -> (Expectation, Vec<SourceSpot>) {
        let own = self.block(expect, seen);
        let expectation = Expectation {
            assertions: own.assertions,
            max_duration_ms: own.max_duration_ms,
            max_response_tokens: own.max_response_tokens,
            response_headers: own.response_headers,
            response_headers_absent: own.response_headers_absent,
        };
        (expectation, own.places)
    }

    /// The expectation of a tool's test: its own assertions, followed by those of the default test;
    /// its own fields take precedence.
    pub(super) fn with_default(
        &mut self,
        expect: &Expect,
        seen: Seen<'_>,
    ) -> (Expectation, Vec<SourceSpot>) {
        let (mut own, mut places) = self.expectation(expect, seen);
        let default = &self.default;
        own.assertions.extend(default.assertions.iter().cloned());
        places.extend(default.places.iter().cloned());
        own.max_duration_ms = own.max_duration_ms.or(default.max_duration_ms);
        own.max_response_tokens = own.max_response_tokens.or(default.max_response_tokens);
        if own.response_headers.is_empty() {
            own.response_headers.clone_from(&default.response_headers);
        }
        if own.response_headers_absent.is_empty() {
            let absent = &default.response_headers_absent;
            own.response_headers_absent.clone_from(absent);
        }
        (own, places)
    }

    /// Assertions, and their places.
    pub(super) fn assertions(
        &mut self,
        written: &[expect::Assertion],
        seen: Seen<'_>,
    ) -> (Vec<Arc<Assertion>>, Vec<SourceSpot>) {
        let mut assertions = Vec::with_capacity(written.len());
        let mut places = Vec::with_capacity(written.len());
        for one in written {
            embeds::check(self, self.suite, &one.place, &one.value);
            if let Some(assertion) = self.kept(&one.place, compile(&one.value)) {
                if let Some(nowhere) = seen.lacks(assertion.target()) {
                    self.warn(&one.place, "/target", nowhere);
                }
                assertions.push(Arc::new(assertion));
                places.push(self.suite.place(&one.place, "/matcher"));
            }
        }
        (assertions, places)
    }

    /// Adds an error about something in the suite.
    pub(super) fn refuse(&mut self, base: &SourceSpot, pointer: &str, message: String, help: &str) {
        self.issues.push(Issue {
            code: Code::Value,
            severity: Severity::Error,
            place: Some(self.suite.place(base, pointer)),
            message,
            help: Some(help.to_owned()),
        });
    }

    fn warn(&mut self, base: &SourceSpot, pointer: &str, nowhere: Nowhere) {
        self.issues.push(Issue {
            code: Code::Reference,
            severity: Severity::Warning,
            place: Some(self.suite.place(base, pointer)),
            message: nowhere.message,
            help: Some(nowhere.help),
        });
    }

    /// The plan, unless there are errors; and all issues.
    pub(super) fn finish(self, plan: Plan) -> (Option<Plan>, Vec<Issue>) {
        let mut issues = self.issues.iter();
        let is_valid = issues.all(|one| one.severity != Severity::Error);
        (is_valid.then_some(plan), self.issues)
    }

    fn block(&mut self, expect: &Expect, seen: Seen<'_>) -> Compiled {
        let (assertions, places) = self.assertions(&expect.assertions, seen);
        let tokens = expect.max_response_tokens.as_ref();
        let headers = expect.response_headers.iter();
        Compiled {
            assertions,
            places,
            max_duration_ms: expect
                .max_duration
                .and_then(|time| u64::try_from(time.as_millis()).ok()),
            max_response_tokens: tokens.and_then(|written| {
                self.kept(&written.place, TokenBudget::compile(&written.value))
            }),
            response_headers: headers
                .filter_map(|(name, written)| {
                    self.kept(&written.place, HeaderRule::compile(name, &written.value))
                })
                .map(Arc::new)
                .collect(),
            response_headers_absent: expect.response_headers_absent.clone(),
        }
    }

    fn kept<T>(&mut self, base: &SourceSpot, compiled: Result<T, LoadError>) -> Option<T> {
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
