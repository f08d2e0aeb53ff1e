//! Results as XML for test reports, a suite of it for each of ours.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::view::{RowView, View};
use crate::suite::result::Status;

/// One XML document.
pub(super) fn text(views: &[View]) -> anyhow::Result<String> {
    let mut report = Report::new("tapewright");
    let took = views.iter().map(|view| view.took_us).sum();
    report.set_time(Duration::from_micros(took));
    for view in views {
        let mut suite = TestSuite::new(view.suite.as_str());
        suite.set_time(Duration::from_micros(view.took_us));
        for row in &view.rows {
            suite.add_test_case(case(row));
        }
        let notes: Vec<&str> = view
            .notes
            .iter()
            .chain(&view.skipped)
            .map(String::as_str)
            .collect();
        if !notes.is_empty() {
            suite.set_system_out(notes.join("\n"));
        }
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}

fn case(row: &RowView) -> TestCase {
    let mut case = TestCase::new(row.title.as_str(), status(row));
    let server = row.server.as_deref().unwrap_or("tapewright");
    case.set_classname(format!("{server}.{}", row.kind));
    if let Some(took) = row.took_us {
        case.set_time(Duration::from_micros(took));
    }
    if let Some(spot) = &row.spot {
        let place = [("file", spot.file.clone()), ("line", spot.line.to_string())];
        case.extra
            .extend(place.map(|(name, value)| (XmlString::new(name), XmlString::new(value))));
    }
    case
}

fn status(row: &RowView) -> TestCaseStatus {
    let kind = match row.status {
        Status::Pass => return TestCaseStatus::success(),
        Status::Skip | Status::NotExercised => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(super::markdown::reason(row));
            return status;
        }
        Status::Fail => NonSuccessKind::Failure,
        Status::Error | Status::Inconclusive => NonSuccessKind::Error,
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(row.status.name());
    status.set_message(super::markdown::reason(row));
    status.set_description(super::tap::details(row).join("\n"));
    status
}
