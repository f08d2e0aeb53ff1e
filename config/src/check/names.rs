//! Names of servers, faults and scorers.

use super::Check;

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
            let message = format!("there is no scorer of type `{}`", scorer.kind);
            let help = "this build has `exec`, which runs a program of yours".to_owned();
            check.warn(&scorer.place, "/type", message, help);
        }
    }
}
