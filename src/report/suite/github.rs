//! Results as annotations of GitHub Actions (workflow commands `error` and `warning`).

use std::fmt::Write as _;

use super::view::{RowView, Spot, View};
use crate::report::workflow::{data, property};
use crate::suite::result::Status;

/// A line for everything that does not hold, and one summary for each suite.
pub(super) fn text(views: &[View]) -> String {
    let mut out = String::new();
    for view in views {
        for row in &view.rows {
            one(row, &mut out);
        }
        for note in view.notes.iter().chain(&view.skipped) {
            let _never_fails = writeln!(out, "::notice::{}", data(note));
        }
        let summary = format!("{}: {}", view.suite, super::pretty::summary(view));
        let _never_fails = writeln!(out, "::notice::{}", data(&summary));
    }
    out
}

fn one(row: &RowView, out: &mut String) {
    let level = match row.status {
        Status::Pass | Status::Skip => return,
        Status::Fail | Status::Error => "error",
        Status::Inconclusive | Status::NotExercised => "warning",
    };
    let mut annotate = |spot: Option<&Spot>, message: &str| {
        let place = spot.map_or(String::new(), |spot| {
            format!(
                "file={},line={},col={},",
                property(&spot.file),
                spot.line,
                spot.column
            )
        });
        let title = property(&row.title);
        let _never_fails = writeln!(out, "::{level} {place}title={title}::{}", data(message));
    };
    for problem in &row.problems {
        let mut message = String::new();
        if let Some(own) = &problem.message {
            let _never_fails = writeln!(message, "{own}");
        }
        let _never_fails = write!(
            message,
            "{} on `{}`: {}",
            problem.matcher, problem.target, problem.note
        );
        for (name, value) in [("expected", &problem.expected), ("actual", &problem.actual)] {
            if let Some((kind, text)) = value {
                let _never_fails = write!(message, "\n{name} ({kind}): {text}");
            }
        }
        annotate(problem.spot.as_ref().or(row.spot.as_ref()), &message);
    }
    for reason in &row.reasons {
        annotate(row.spot.as_ref(), reason);
    }
}
