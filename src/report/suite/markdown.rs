//! Results as a table, for a pull request.

use std::fmt::Write as _;

use super::view::{RowView, View};
use crate::suite::result::Status;

/// A heading, a summary and a table for each suite; what passed is folded away.
pub(super) fn text(views: &[View]) -> String {
    let mut out = String::new();
    for view in views {
        let _never_fails = writeln!(
            out,
            "## {}\n\n{}\n",
            cell(&view.suite),
            super::pretty::summary(view)
        );
        let (good, bad): (Vec<_>, Vec<_>) = view
            .rows
            .iter()
            .partition(|row| matches!(row.status, Status::Pass | Status::Skip));
        if !bad.is_empty() {
            out.push_str("| | test | why | where |\n|---|---|---|---|\n");
        }
        for row in &bad {
            let place = row.problems.iter().find_map(|one| one.spot.as_ref());
            let place = place.or(row.spot.as_ref()).map_or(String::new(), |spot| {
                format!("{}:{}", cell(&spot.file), spot.line)
            });
            let (word, title) = (row.status.counted(), cell(&row.title));
            let _never_fails = writeln!(
                out,
                "| {word} | {title} | {} | {place} |",
                cell(&reason(row))
            );
        }
        if !bad.is_empty() {
            out.push('\n');
        }
        folded(&good, &mut out);
        for note in view.notes.iter().chain(&view.skipped) {
            let _never_fails = writeln!(out, "- {}", cell(note));
        }
    }
    out
}

fn folded(rows: &[&RowView], out: &mut String) {
    if rows.is_empty() {
        return;
    }
    let _never_fails = writeln!(out, "<details><summary>{} more</summary>\n", rows.len());
    out.push_str("| | test |\n|---|---|\n");
    for row in rows {
        let replay = if row.replay { " [replay]" } else { "" };
        let _never_fails = writeln!(
            out,
            "| {} | {}{replay} |",
            row.status.counted(),
            cell(&row.title)
        );
    }
    out.push_str("\n</details>\n\n");
}

/// Why a row did not pass, in one line.
pub(super) fn reason(row: &RowView) -> String {
    if let Some(problem) = row.problems.first() {
        let more = match row.problems.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let note = problem.note.lines().next().unwrap_or_default();
        let own = problem.message.as_deref();
        let own = own.map_or(String::new(), |message| format!("{message}: "));
        return format!(
            "{own}{} on `{}`: {note}{more}",
            problem.matcher, problem.target
        );
    }
    let reason = row.reasons.first().map(String::as_str);
    reason
        .unwrap_or(row.status.counted())
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Text in a cell: nothing in it is markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in crate::report::safe(text).chars() {
        if matches!(
            char,
            '|' | '\\' | '<' | '>' | '*' | '_' | '[' | ']' | '&' | '#'
        ) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}
