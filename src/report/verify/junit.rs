//! Drift, as XML for test reports.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use tapewright_replay::verify::{Check, Verdict};

use super::{Verified, failures, name};

/// One test suite with a test case for each request.
pub(crate) fn junit(verified: &Verified<'_>) -> anyhow::Result<String> {
    let mut suite = TestSuite::new(verified.tape.display().to_string());
    suite.add_test_cases(verified.checks.iter().map(|check| case(check, verified)));
    let mut report = Report::new("tapewright verify");
    report.add_test_suite(suite);
    let mut text = report.to_string()?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn case(check: &Check, verified: &Verified<'_>) -> TestCase {
    let status = match &check.verdict {
        Verdict::Same => TestCaseStatus::success(),
        Verdict::Skipped { why } => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(why.as_str());
            status
        }
        _ => {
            let lines = failures(check);
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("drift");
            status.set_message(lines.first().map(String::as_str).unwrap_or_default());
            status.set_description(lines.join("\n"));
            status
        }
    };
    let mut case = TestCase::new(format!("{} {}", check.place, name(check)), status);
    case.set_classname(verified.tape.display().to_string());
    if let Some(took) = check.took_ms {
        case.set_time(Duration::try_from_secs_f64(took / 1_000.0).unwrap_or_default());
    }
    case
}
