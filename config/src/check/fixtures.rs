//! `inject_error`: the fixture is there, and meant for the tool.

use super::Check;
use crate::issue::Code;

pub(super) fn check(check: &Check<'_>) {
    let suite = check.suite;
    let errors = &suite.fixtures.errors;
    check.unique(
        "fixture",
        errors
            .iter()
            .map(|error| (error.name.as_str(), &error.place)),
        "/name",
    );
    let names: Vec<_> = errors.iter().map(|error| error.name.as_str()).collect();
    for test in &suite.tools {
        let Some(wanted) = &test.inject_error else {
            continue;
        };
        if !check.is_one_of(&test.place, "/inject_error", wanted, "fixture", &names) {
            continue;
        }
        let fixture = errors.iter().find(|error| error.name == *wanted);
        let tool = fixture.and_then(|fixture| fixture.tool.as_ref());
        if let Some(tool) = tool.filter(|tool| **tool != test.tool) {
            let message = format!(
                "the fixture `{wanted}` is for the tool `{tool}`, and this test calls `{}`",
                test.tool
            );
            let help = "use a fixture with `applies_to: any`".to_owned();
            check.error(&test.place, "/inject_error", Code::Reference, message, help);
        }
    }
}
