//! Verdicts as Markdown, for a comment or the summary of a workflow.

use tapewright_compliance::finding::Status;
use tapewright_compliance::table;

use super::sentence;
use crate::command::compliance::{Server, Verdicts};

/// One section for each session: what failed, and what cannot be told.
pub(crate) fn markdown(verdicts: &Verdicts) -> String {
    let mut lines = vec![
        "# Session invariants".to_owned(),
        String::new(),
        format!("{}.", super::pretty::result(verdicts)),
    ];
    for server in &verdicts.servers {
        lines.push(String::new());
        lines.push(heading(server));
        lines.push(String::new());
        session(server, &mut lines);
    }
    if !verdicts.hazards.is_empty() {
        lines.extend([String::new(), "## Composition".to_owned(), String::new()]);
        for (hazard, expected) in verdicts.hazards() {
            let word = if expected { "expected" } else { "**fail**" };
            lines.push(format!(
                "- {word} {}: {}",
                hazard.kind,
                plain(&hazard.detail)
            ));
        }
    }
    if let Some(stale) = verdicts.expectations.as_ref().filter(|one| one.is_stale()) {
        lines.extend([
            String::new(),
            "## Stale in the baseline".to_owned(),
            String::new(),
        ]);
        for (label, code) in &stale.stale {
            lines.push(format!("- {code} of {}", plain(label)));
        }
        lines.extend(
            stale
                .stale_hazards
                .iter()
                .map(|one| format!("- {}", plain(one))),
        );
    }
    lines.join("\n") + "\n"
}

fn heading(server: &Server) -> String {
    match server.session.0 {
        0 => format!("## {}", plain(&server.label)),
        number => format!("## {}, session {number}", plain(&server.label)),
    }
}

fn session(server: &Server, lines: &mut Vec<String>) {
    let told = [Status::Fail, Status::Race, Status::Inconclusive];
    let mut rows = server
        .outcomes
        .iter()
        .filter(|one| told.contains(&one.status))
        .peekable();
    if rows.peek().is_none() {
        lines.push("Nothing failed.".to_owned());
    } else {
        lines.push("| invariant | verdict | what |".to_owned());
        lines.push("|---|---|---|".to_owned());
    }
    for outcome in rows {
        let property = table::find(outcome.code).map_or("", |rule| rule.property);
        let mut what = vec![cell(property)];
        what.extend(
            outcome
                .findings
                .iter()
                .map(|one| cell(&sentence(server, one))),
        );
        if outcome.status == Status::Inconclusive {
            what.extend(outcome.doubts.each().map(|doubt| cell(doubt.words())));
        }
        if outcome.more > 0 {
            what.push(format!("and {} more", outcome.more));
        }
        let verdict = match outcome.status {
            Status::Fail if server.fails(outcome) => "**fail**",
            Status::Fail => "expected",
            other => other.name(),
        };
        let what = what.join("<br>");
        lines.push(format!("| {} | {verdict} | {what} |", outcome.code));
    }
}

/// Text of others, which must not become markup. What stands in our own backticks stays.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in crate::report::safe(text).chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '*' | '_' | '[' | ']' | '#' | '!' | '\\' => out.extend(['\\', char]),
            other => out.push(other),
        }
    }
    out
}

/// The same within a table.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
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
