//! Tables, for a pull request or the summary of a workflow.

use std::fmt::Write as _;

use crate::report::model::{Group, Report, Row, Spot};
use crate::report::safe;

/// How many problems of a row are listed.
const MOST: usize = 20;

/// A section for each group: what needs attention, and the rest folded away.
pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    if let Some(result) = &report.result {
        let _never_fails = writeln!(out, "# {}\n\n{}.\n", report.title, cell(result));
    }
    for group in &report.groups {
        section(group, &mut out);
    }
    out
}

fn section(group: &Group, out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    let _never_fails = writeln!(out, "## {}\n", cell(&group.title));
    if let Some(summary) = &group.summary {
        let _never_fails = writeln!(out, "{}\n", cell(summary));
    }
    let (told, rest): (Vec<&Row>, Vec<&Row>) =
        group.rows.iter().partition(|row| row.status.is_told());
    if !told.is_empty() {
        out.push_str("| | test | why | where |\n|---|---|---|---|\n");
        for row in told {
            let place = row.spot().map_or(String::new(), place);
            let (word, name) = (cell(&row.word), cell(&row.full_name()));
            let _never_fails = writeln!(out, "| {word} | {name} | {} | {place} |", why(row));
        }
        out.push('\n');
    }
    folded(&rest, out);
    for note in &group.notes {
        let _never_fails = writeln!(out, "- {}", cell(note));
    }
}

fn why(row: &Row) -> String {
    if row.problems.is_empty() {
        return cell(&row.reason());
    }
    let shown = row.problems.iter().take(MOST);
    let mut shown: Vec<String> = shown.map(|one| cell(&one.headline)).collect();
    if let Some(more) = row
        .problems
        .len()
        .checked_sub(MOST)
        .filter(|more| *more > 0)
    {
        shown.push(format!("and {more} more"));
    }
    shown.join("<br>")
}

fn place(spot: &Spot) -> String {
    let line = spot.line.map_or(String::new(), |line| format!(":{line}"));
    format!("{}{line}", cell(&spot.file))
}

fn folded(rows: &[&Row], out: &mut String) {
    if rows.is_empty() {
        return;
    }
    let _never_fails = writeln!(out, "<details><summary>{} more</summary>\n", rows.len());
    out.push_str("| | test |\n|---|---|\n");
    for row in rows {
        let (word, name) = (cell(&row.word), cell(&row.full_name()));
        let _never_fails = writeln!(out, "| {word} | {name} |");
    }
    out.push_str("\n</details>\n\n");
}

/// Text in a cell, with markup escaped except within our own backticks.
pub(crate) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in safe(text).chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '*' | '_' | '[' | ']' | '#' | '!' | '|' | '\\' => out.extend(['\\', char]),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn nothing_of_a_peer_is_markup() {
        assert_eq!(
            cell("a|b <img src=x> [l](u) *c*"),
            "a\\|b &lt;img src=x&gt; \\[l\\](u) \\*c\\*"
        );
    }
}
