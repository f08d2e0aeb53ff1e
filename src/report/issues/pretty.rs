//! Issues for people: the line, a mark below it, and advice.

use tapewright_config::{Excerpt, Issue, Loaded, Severity, Suite};
use tapewright_schemas::redact::Redactor;

use super::{Checked, count, line_without_secrets, redactor, severity, without_secrets};
use crate::report::safe;

/// The longest part of a line that is shown, in characters.
const WIDTH: usize = 120;

/// All issues of all suites, and a line about each suite.
pub(super) fn text(results: &[Checked]) -> String {
    let mut redactor = redactor();
    let mut out = String::new();
    for (name, loaded) in results {
        for issue in &loaded.issues {
            out.push_str(&one(loaded, issue, &mut redactor));
            out.push('\n');
        }
        out.push_str(&summary(name, loaded));
    }
    out
}

/// One issue.
fn one(loaded: &Loaded, issue: &Issue, redactor: &mut Redactor) -> String {
    let message = safe(&without_secrets(redactor, &issue.message));
    let mut lines = vec![format!(
        "{}[{}]: {message}",
        severity(issue),
        issue.code.name()
    )];
    let place = issue.place.as_ref();
    let excerpt = place.and_then(|place| loaded.sources.excerpt(place));
    let mut margin = String::from(" ");
    if let (Some(place), Some(excerpt)) = (place, &excerpt) {
        let path = loaded.sources.path(place.file).display().to_string();
        let (path, line, column) = (safe(&path), excerpt.line, excerpt.column);
        margin = " ".repeat(line.to_string().len());
        let (shown, marks) = marked(excerpt, redactor);
        lines.push(format!("{margin}--> {path}:{line}:{column}"));
        lines.push(format!("{margin} |"));
        lines.push(format!("{line} | {shown}").trim_end().to_owned());
        lines.extend(marks.map(|marks| format!("{margin} | {marks}")));
        if !place.pointer.is_empty() {
            lines.push(format!("{margin} = at: {}", safe(&place.pointer)));
        }
    }
    if let Some(help) = &issue.help {
        let help = safe(&without_secrets(redactor, help));
        lines.push(format!("{margin} = hint: {help}"));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The line, cut to a readable length, and the carets below it. There are no carets if removing a
/// secret moved what they mark.
fn marked(excerpt: &Excerpt<'_>, redactor: &mut Redactor) -> (String, Option<String>) {
    let text = line_without_secrets(redactor, excerpt.text);
    let before = excerpt.column - 1;
    let is_long = text.chars().count() > WIDTH;
    let from = if is_long {
        before.saturating_sub(WIDTH / 2)
    } else {
        0
    };
    let cut = |text: &str, from: usize, most: usize| -> String {
        text.chars().skip(from).take(most).collect()
    };
    let shown = |text: &str| safe(&text.replace('\t', " "));
    let line = shown(&cut(&text, from, WIDTH));
    let dots = |is_cut: bool| if is_cut { "…" } else { "" };
    let (front, back) = (dots(from > 0), dots(text.chars().count() > from + WIDTH));
    let prefix = cut(excerpt.text, 0, before);
    let marks = text.starts_with(&prefix).then(|| {
        let indent = shown(&cut(&prefix, from, WIDTH)).chars().count() + front.chars().count();
        let most = line.chars().count().saturating_sub(indent).max(1);
        format!(
            "{}{}",
            " ".repeat(indent),
            "^".repeat(excerpt.width.min(most))
        )
    });
    (format!("{front}{line}{back}").trim_end().to_owned(), marks)
}

fn summary(name: &str, loaded: &Loaded) -> String {
    let name = safe(name);
    let many =
        |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let warnings = match count(loaded, Severity::Warning) {
        0 => String::new(),
        some => format!(", {}", many(some, "warning")),
    };
    let more = match loaded.dropped {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match &loaded.suite {
        Some(suite) => {
            let (servers, tests) = (
                many(suite.servers.len(), "server"),
                many(tests(suite), "test"),
            );
            format!("{name}: valid ({servers}, {tests}{warnings}{more})\n")
        }
        None => format!(
            "{name}: {}{warnings}{more}\n",
            many(count(loaded, Severity::Error), "error")
        ),
    }
}

/// The number of entries that have a result.
fn tests(suite: &Suite) -> usize {
    let lists = [
        suite.tools.len(),
        suite.resources.len(),
        suite.prompts.len(),
        suite.compliance.tests.len(),
        suite.compositions.len(),
        suite.agents.len(),
        suite.evals.len(),
    ];
    lists.iter().sum()
}
