//! `inject_error`: the fixture exists, and is for this tool.

use super::Check;
use crate::issue::Code;
use crate::suite::test::ToolTest;

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
        no_result(check, test);
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

/// Warns about assertions on members that only a successful answer has.
fn no_result(check: &Check<'_>, test: &ToolTest) {
    for assertion in &test.expect.assertions {
        let target = assertion.value.get("target");
        let target = target
            .and_then(serde_json::Value::as_str)
            .unwrap_or_default();
        let Some(member) = OF_RESULTS.iter().find(|member| {
            let rest = target
                .strip_prefix("result.")
                .and_then(|rest| rest.strip_prefix(*member));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        }) else {
            continue;
        };
        let message =
            format!("no `result.{member}` here: `inject_error` answers with a JSON-RPC error");
        let help = "look at `result.error.code` or `result.error.message`".to_owned();
        check.warn(&assertion.place, "/target", Code::Unused, message, help);
    }
}

/// Members of the results of tools.
const OF_RESULTS: [&str; 3] = ["isError", "content", "structuredContent"];
