//! Results in the Test Anything Protocol, version 14.

use std::fmt::Write as _;

use super::view::{RowView, View};
use crate::suite::result::Status;

/// All suites as one plan.
pub(super) fn text(views: &[View]) -> String {
    let total: usize = views.iter().map(|view| view.rows.len()).sum();
    let mut out = format!("TAP version 14\n1..{total}\n");
    let mut number = 0;
    for view in views {
        for row in &view.rows {
            number += 1;
            one(number, row, &mut out);
        }
        for note in view.notes.iter().chain(&view.skipped) {
            for line in note.lines() {
                let _never_fails = writeln!(out, "# {}", plain(line));
            }
        }
    }
    out
}

fn one(number: usize, row: &RowView, out: &mut String) {
    let good = matches!(
        row.status,
        Status::Pass | Status::Skip | Status::NotExercised
    );
    let word = if good { "ok" } else { "not ok" };
    let name = plain(&row.title).replace('\\', "\\\\").replace('#', "\\#");
    let _never_fails = write!(out, "{word} {number} - {name}");
    if matches!(row.status, Status::Skip | Status::NotExercised) {
        let _never_fails = write!(out, " # SKIP {}", plain(&super::markdown::reason(row)));
    }
    out.push('\n');
    if good {
        return;
    }
    out.push_str("  ---\n");
    let _never_fails = writeln!(out, "  message: {}", quoted(&super::markdown::reason(row)));
    let _never_fails = writeln!(out, "  severity: {}", row.status.name());
    if let Some(spot) = &row.spot {
        let _never_fails = writeln!(
            out,
            "  at: {}",
            quoted(&format!("{}:{}", spot.file, spot.line))
        );
    }
    out.push_str("  details: |\n");
    for line in details(row) {
        let _never_fails = writeln!(out, "    {}", plain(&line));
    }
    out.push_str("  ...\n");
}

/// What is wrong with a row, line by line.
pub(super) fn details(row: &RowView) -> Vec<String> {
    let mut lines = Vec::new();
    for problem in &row.problems {
        lines.extend(problem.message.clone());
        let target = &problem.target;
        lines.push(format!(
            "{} on `{target}`: {}",
            problem.matcher, problem.note
        ));
        for (name, value) in [("expected", &problem.expected), ("actual", &problem.actual)] {
            if let Some((kind, text)) = value {
                lines.push(format!("  {name} ({kind}): {text}"));
            }
        }
        if let Some(spot) = &problem.spot {
            lines.push(format!("  at {}:{}:{}", spot.file, spot.line, spot.column));
        }
        if let Some(exchange) = problem.exchange {
            lines.push(format!("  recorded: {exchange}"));
        }
    }
    lines.extend(row.reasons.iter().cloned());
    let whole = lines
        .iter()
        .flat_map(|line| line.lines().map(str::to_owned));
    whole.collect()
}

/// A string of YAML, which JSON's are.
fn quoted(text: &str) -> String {
    tapewright_assertions::Json::from(text).to_string()
}

/// On one line, without what a terminal would obey.
fn plain(text: &str) -> String {
    crate::report::safe(text)
}
