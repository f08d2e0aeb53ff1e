//! JUnit XML, with a test suite for each group.

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

/// A skipped or inconclusive row is neither a success nor a failure.
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

/// A success after a failure, with that failure.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::model::{Level, Problem, Spot};

    fn of(said: &str, status: Status) -> Report {
        let mut row = Row::new(status, said, said);
        row.class = said.to_owned();
        row.why = Some(said.to_owned());
        row.spot = Some(Spot {
            file: said.to_owned(),
            line: Some(1),
            columns: None,
        });
        row.problems.push(Problem {
            level: Some(Level::Error),
            headline: said.to_owned(),
            lines: vec![said.to_owned(), said.to_owned()],
            spot: None,
        });
        let group = Group {
            title: said.to_owned(),
            rows: vec![row],
            notes: vec![said.to_owned()],
            ..Group::default()
        };
        Report {
            title: "tests",
            groups: vec![group],
            result: None,
        }
    }

    /// `Char` of XML 1.0.
    fn may_be(char: char) -> bool {
        matches!(char, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
    }

    proptest! {
        #[test]
        fn whatever_is_said_the_document_is_well_formed(
            said in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f\\u{fffe}\\u{ffff}\\u{202e}]|\\]\\]>|<!--|&#0;|</failure>){0,24}",
        ) {
            for status in [Status::Error, Status::Fail, Status::Flaky, Status::Inconclusive, Status::Pass, Status::Skipped] {
                let text = text(&of(&said, status)).unwrap();
                prop_assert!(text.chars().all(may_be), "{text}");
                let read = Document::deserialize_from_str(&text);
                prop_assert!(read.is_ok(), "{read:?}: {text}");
            }
        }
    }
}
