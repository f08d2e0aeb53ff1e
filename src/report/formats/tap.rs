//! The Test Anything Protocol, version 14.

use std::fmt::Write as _;

use crate::report::model::{Report, Row, Status};
use crate::report::{safe, safe_json};

/// All groups as one plan.
pub(crate) fn text(report: &Report) -> String {
    let total: usize = report.groups.iter().map(|group| group.rows.len()).sum();
    let mut out = format!("TAP version 14\n1..{total}\n");
    let mut number = 0;
    for group in &report.groups {
        for row in &group.rows {
            number += 1;
            point(number, row, &mut out);
        }
        for line in group.notes.iter().flat_map(|note| note.lines()) {
            let _never_fails = writeln!(out, "# {}", safe(line));
        }
    }
    out
}

fn point(number: usize, row: &Row, out: &mut String) {
    let name = safe(&row.full_name());
    let name = name.replace('\\', "\\\\").replace('#', "\\#");
    let (word, skipped) = match row.status {
        Status::Pass | Status::Flaky => ("ok", false),
        Status::Skipped | Status::Inconclusive => ("ok", true),
        Status::Fail | Status::Error => ("not ok", false),
    };
    let _never_fails = write!(out, "{word} {number} - {name}");
    if skipped {
        let _never_fails = write!(out, " # SKIP {}", safe(&row.reason()));
    }
    out.push('\n');
    if row.status == Status::Flaky {
        let _never_fails = writeln!(out, "# {}", safe(&row.reason()));
    }
    if word != "ok" {
        block(row, out);
    }
}

/// The problems of a row, as a block of YAML. A JSON string is also a YAML string.
fn block(row: &Row, out: &mut String) {
    let quoted = |text: &str| {
        let quoted = tapewright_assertions::Json::from(text).to_string();
        safe_json(&quoted).into_owned()
    };
    out.push_str("  ---\n");
    let _never_fails = writeln!(out, "  message: {}", quoted(&row.reason()));
    let _never_fails = writeln!(out, "  severity: {}", row.word);
    if let Some(spot) = &row.spot {
        let _never_fails = writeln!(out, "  at: {}", quoted(&spot.shown()));
    }
    out.push_str("  details: |\n");
    for line in row.details() {
        let _never_fails = writeln!(out, "    {}", safe(&line));
    }
    out.push_str("  ...\n");
}
