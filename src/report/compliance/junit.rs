//! Verdicts as JUnit XML: a suite for each session, a case for each invariant.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use tapewright_compliance::Outcome;
use tapewright_compliance::finding::{Doubt, Status};
use tapewright_compliance::table;

use super::sentence;
use crate::command::compliance::{Server, Verdicts};
use crate::report::safe;

/// One document. What was never put to the test, or cannot be known, is skipped.
pub(crate) fn junit(verdicts: &Verdicts) -> anyhow::Result<String> {
    let mut report = Report::new("session invariants");
    for server in &verdicts.servers {
        let mut suite = TestSuite::new(title(server));
        suite.add_test_cases(server.outcomes.iter().map(|one| case(server, one)));
        report.add_test_suite(suite);
    }
    if verdicts.servers.len() > 1 || !verdicts.hazards.is_empty() {
        report.add_test_suite(composition(verdicts));
    }
    Ok(report.to_string()?)
}

fn title(server: &Server) -> String {
    match server.session.0 {
        0 => safe(&server.label),
        number => format!("{}, session {number}", safe(&server.label)),
    }
}

fn case(server: &Server, outcome: &Outcome) -> TestCase {
    let property = table::find(outcome.code).map_or("", |rule| rule.property);
    let category = table::find(outcome.code).map_or("", |rule| rule.category);
    let status = match outcome.status {
        Status::Pass => TestCaseStatus::success(),
        Status::Fail if server.fails(outcome) => failure(server, outcome),
        Status::Fail => skipped("expected by the baseline", server, outcome),
        Status::Race => skipped("race", server, outcome),
        Status::Vacuous => skipped("never put to the test", server, outcome),
        Status::Inconclusive => {
            let doubts: Vec<&str> = outcome.doubts.each().map(Doubt::words).collect();
            skipped(&doubts.join("; "), server, outcome)
        }
    };
    let mut case = TestCase::new(format!("{} {property}", outcome.code), status);
    case.set_classname(category);
    case
}

fn failure(server: &Server, outcome: &Outcome) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(outcome.code.to_string());
    if let Some(first) = outcome.findings.first() {
        status.set_message(safe(&first.detail));
    }
    status.set_description(details(server, outcome));
    status
}

fn skipped(why: &str, server: &Server, outcome: &Outcome) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(why);
    if !outcome.findings.is_empty() {
        status.set_description(details(server, outcome));
    }
    status
}

fn details(server: &Server, outcome: &Outcome) -> String {
    let mut lines: Vec<String> = outcome
        .findings
        .iter()
        .map(|one| sentence(server, one))
        .collect();
    if outcome.more > 0 {
        lines.push(format!("and {} more", outcome.more));
    }
    lines.join("\n")
}

fn composition(verdicts: &Verdicts) -> TestSuite {
    let mut suite = TestSuite::new("composition");
    for (hazard, expected) in verdicts.hazards() {
        let mut status = if expected {
            TestCaseStatus::skipped()
        } else {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        };
        status.set_type(hazard.kind);
        status.set_message(safe(&hazard.detail));
        let servers: Vec<String> = hazard.servers.iter().map(|one| safe(one)).collect();
        let name = format!("{}: {}", hazard.kind, servers.join(", "));
        suite.add_test_case(TestCase::new(name, status));
    }
    if verdicts.hazards.is_empty() {
        let name = "the servers do not stand in each other's way";
        suite.add_test_case(TestCase::new(name, TestCaseStatus::success()));
    }
    suite
}
