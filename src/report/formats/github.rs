//! Annotations of GitHub Actions (workflow commands `error`, `warning` and `notice`).

use crate::report::model::{Level, Problem, Report, Row, Spot};
use crate::report::safe;

/// A line for everything that needs attention, then the notes, then the summary.
pub(crate) fn text(report: &Report) -> String {
    let mut out = String::new();
    for group in &report.groups {
        for row in &group.rows {
            out.extend(row.problems.iter().filter_map(|one| command(row, one)));
        }
        let summary = group.summary.as_ref();
        let summary = summary.map(|summary| format!("{}: {summary}", group.title));
        for note in group.notes.iter().chain(&summary) {
            out.extend(["::notice::", &data(note), "\n"]);
        }
    }
    if let Some(result) = &report.result {
        out.extend([result, "\n"]);
    }
    out
}

fn command(row: &Row, problem: &Problem) -> Option<String> {
    let level = match problem.level? {
        Level::Error => "error",
        Level::Notice => "notice",
        Level::Warning => "warning",
    };
    let mut properties = place(problem.spot.as_ref().or(row.spot.as_ref()));
    properties.push(format!("title={}", property(&row.heading)));
    let text = [problem.headline.as_str()].into_iter();
    let text: Vec<&str> = text
        .chain(problem.lines.iter().map(String::as_str))
        .collect();
    let (properties, text) = (properties.join(","), data(&text.join("\n")));
    Some(format!("::{level} {properties}::{text}\n"))
}

fn place(spot: Option<&Spot>) -> Vec<String> {
    let Some(spot) = spot else {
        return Vec::new();
    };
    let mut properties = vec![format!("file={}", property(&spot.file))];
    properties.extend(spot.line.map(|line| format!("line={line}")));
    if let Some(columns) = &spot.columns {
        properties.push(format!("col={},endColumn={}", columns.start, columns.end));
    }
    properties
}

/// The text of a command: characters that would end it or move the cursor are escaped.
fn data(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| safe(line).replace('%', "%25"))
        .collect();
    lines.join("%0A")
}

/// The value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_peer_is_a_command() {
        assert_eq!(data("a%b\n::error::x\r"), "a%25b%0A: :error::x\\r");
        assert_eq!(property("a:b,c\n"), "a%3Ab%2Cc%0A");
    }
}
