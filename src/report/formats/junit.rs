//! XML for test reports, a suite of it for each group.

use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

use crate::report::model::{Group, Report, Row, Status};
use crate::report::safe;

/// One XML document.
pub(crate) fn text(report: &Report) -> anyhow::Result<String> {
    let mut document = Document::new(report.title);
    let times = report.groups.iter().map(|group| group.took);
    if let Some(took) = times.sum::<Option<Duration>>() {
        document.set_time(took);
    }
    document.add_test_suites(report.groups.iter().map(suite));
    let mut text = document.to_string()?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

fn suite(group: &Group) -> TestSuite {
    let mut suite = TestSuite::new(safe(&group.title));
    if let Some(took) = group.took {
        suite.set_time(took);
    }
    suite.add_test_cases(group.rows.iter().map(case));
    if !group.notes.is_empty() {
        suite.set_system_out(lines(&group.notes));
    }
    suite
}

fn case(row: &Row) -> TestCase {
    let mut case = TestCase::new(safe(&row.full_name()), status(row));
    case.set_classname(safe(&row.class));
    if let Some(took) = row.took {
        case.set_time(took);
    }
    if let Some(spot) = &row.spot {
        let line = spot.line.map(|line| ("line", line.to_string()));
        let place = [("file", safe(&spot.file))].into_iter().chain(line);
        let place = place.map(|(name, value)| (name.into(), value.into()));
        case.extra.extend(place);
    }
    case
}

/// What is skipped, or cannot be known, is neither a success nor a failure.
fn status(row: &Row) -> TestCaseStatus {
    let kind = match row.status {
        Status::Pass => return TestCaseStatus::success(),
        Status::Flaky => return flaky(row),
        Status::Skipped | Status::Inconclusive => None,
        Status::Fail => Some(NonSuccessKind::Failure),
        Status::Error => Some(NonSuccessKind::Error),
    };
    let mut status = kind.map_or_else(TestCaseStatus::skipped, TestCaseStatus::non_success);
    let (reason, details) = (row.reason(), row.details());
    status.set_message(safe(&reason));
    if kind.is_some() {
        status.set_type(safe(&row.failure));
    }
    if kind.is_some() || !matches!(details.as_slice(), [] | [_]) {
        status.set_description(lines(&details));
    }
    status
}

/// A success with the failure that came before it.
fn flaky(row: &Row) -> TestCaseStatus {
    let mut failure = TestRerun::new(NonSuccessKind::Failure);
    failure.set_message(safe(&row.reason()));
    let mut status = TestCaseStatus::success();
    status.add_rerun(failure);
    status
}

fn lines(lines: &[String]) -> String {
    let safe: Vec<String> = lines.iter().map(|line| safe(line)).collect();
    safe.join("\n")
}
