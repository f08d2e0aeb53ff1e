//! Matchers, targets and rules of a suite compile: patterns, schemas, expressions.

use serde_json::Value;
use tapewright_assertions::{HeaderRule, LoadError, TokenBudget};
use tapewright_config::suite::expect::Expect;
use tapewright_config::{Code, Issue, Place, Severity, Suite};

/// What is wrong with the assertions of a suite.
pub(super) fn check(suite: &Suite) -> Vec<Issue> {
    let mut issues = Vec::new();
    let mut note = |place: &Place, result: Result<(), LoadError>| {
        if let Err(error) = result {
            issues.push(issue(suite, place, error));
        }
    };
    for assertion in suite.assertions() {
        note(&assertion.place, compile(&assertion.value));
    }
    for expect in suite.expects() {
        rules(expect, &mut note);
    }
    issues
}

fn compile(value: &Value) -> Result<(), LoadError> {
    tapewright_assertions::compile(value).map(drop)
}

/// What stands beside the assertions of a test.
fn rules(expect: &Expect, note: &mut impl FnMut(&Place, Result<(), LoadError>)) {
    for (name, rule) in &expect.response_headers {
        note(
            &rule.place,
            HeaderRule::compile(name, &rule.value).map(drop),
        );
    }
    if let Some(budget) = &expect.max_response_tokens {
        note(&budget.place, TokenBudget::compile(&budget.value).map(drop));
    }
}

fn issue(suite: &Suite, place: &Place, error: LoadError) -> Issue {
    Issue {
        code: Code::Assertion,
        severity: Severity::Error,
        place: Some(suite.place(place, &error.pointer)),
        message: error.message,
        help: error.help,
    }
}
