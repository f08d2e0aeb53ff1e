//! Names of servers, faults and scorers.

use std::collections::HashSet;

use super::Check;
use crate::issue::Code;
use crate::source::SourceSpot;

pub(super) fn check(check: &Check<'_>) {
    let suite = check.suite;
    for test in &suite.tools {
        check.server(&test.place, "/server", &test.server);
    }
    for test in &suite.resources {
        check.server(&test.place, "/server", &test.server);
    }
    for test in &suite.prompts {
        check.server(&test.place, "/server", &test.server);
    }
    for test in &suite.compliance.tests {
        check.server(&test.place, "/server", &test.server);
    }
    for eval in &suite.evals {
        check.server(&eval.place, "/server", &eval.server);
    }
    for fault in &suite.faults {
        if let Some(server) = &fault.server {
            check.server(&fault.place, "/target/server", server);
        }
    }
    let faults = suite
        .faults
        .iter()
        .map(|fault| (fault.name.as_str(), &fault.place));
    check.unique("fault", faults, "/name");
    let scorers = suite
        .scorers
        .iter()
        .map(|scorer| (scorer.name.as_str(), &scorer.place));
    check.unique("scorer", scorers, "/name");
    for scorer in &suite.scorers {
        if scorer.kind != "exec" {
            let message = format!("unknown scorer type `{}`", scorer.kind);
            let help = "this build has `exec`, which runs a program of yours".to_owned();
            check.warn(&scorer.place, "/type", Code::Reference, message, help);
        }
    }
    let tools = suite.tools.iter().map(|test| (&test.name, &test.place));
    names_of_tests(check, tools);
    let resources = suite.resources.iter().map(|test| (&test.name, &test.place));
    names_of_tests(check, resources);
    let prompts = suite.prompts.iter().map(|test| (&test.name, &test.place));
    names_of_tests(check, prompts);
}

/// Tests may share a name and all run, but their results are hard to distinguish.
fn names_of_tests<'n>(
    check: &Check<'_>,
    tests: impl Iterator<Item = (&'n String, &'n SourceSpot)>,
) {
    let mut seen = HashSet::new();
    for (name, place) in tests {
        if !seen.insert(name) {
            let message = format!("another test is called `{name}` as well");
            let help = "both run; give them names that reports can tell apart".to_owned();
            check.warn(place, "/name", Code::DuplicateName, message, help);
        }
    }
}
