//! The differences between two revisions: as text, Markdown and a page.

use std::fmt::Write as _;

use tapewright_corpus::VersionCorpus;
use tapewright_corpus::diff::{Change, Entry, Summary, VersionDiff};
use tapewright_corpus::rule::{RegisteredRule, Rule};

use super::explain::wrapped;
use super::safe;

/// The order of the kinds of change: those that may break a suite come first.
const ORDER: [Change; 4] = [
    Change::Changed,
    Change::Added,
    Change::Removed,
    Change::Unchanged,
];

/// The counts, and a line for each rule.
pub(crate) fn pretty(diff: &VersionDiff) -> String {
    let mut out = format!(
        "{} -> {}: {}\n",
        safe(&diff.from),
        safe(&diff.to),
        counts(diff.summary)
    );
    for entry in &diff.entries {
        let tag = match entry.change {
            Change::Changed => "CHANGED",
            other => other.name(),
        };
        let (id, name) = (safe(&entry.rule_id), safe(&entry.name));
        let _never_fails = writeln!(out, "  {:<11} {id:<13} {name}", format!("[{tag}]"));
    }
    out
}

/// A table; unchanged rules are folded away.
pub(crate) fn markdown(diff: &VersionDiff) -> String {
    let mut out = format!(
        "## {} → {}\n\n{}.\n",
        cell(&diff.from),
        cell(&diff.to),
        counts(diff.summary)
    );
    for change in ORDER {
        let entries: Vec<_> = of(diff, change).collect();
        if entries.is_empty() {
            continue;
        }
        let folded = change == Change::Unchanged;
        let _never_fails = if folded {
            write!(
                out,
                "\n<details><summary>{} unchanged</summary>\n\n",
                entries.len()
            )
        } else {
            write!(out, "\n### {}\n\n", capitalised(change.name()))
        };
        out.push_str("| rule | |\n|---|---|\n");
        for entry in entries {
            let (id, name) = (cell(&entry.rule_id), cell(&entry.name));
            let _never_fails = writeln!(out, "| {id} | {name} |");
        }
        out.push_str(if folded { "\n</details>\n" } else { "" });
    }
    out
}

/// A self-contained page.
pub(crate) fn html(diff: &VersionDiff) -> String {
    let title = format!("{} → {}", escaped(&diff.from), escaped(&diff.to));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head>\n\
         <body><h1>{title}</h1>\n<p>{}.</p>\n",
        counts(diff.summary)
    );
    for change in ORDER {
        let entries: Vec<_> = of(diff, change).collect();
        if entries.is_empty() {
            continue;
        }
        let _never_fails = writeln!(out, "<h2>{}</h2>\n<table>", capitalised(change.name()));
        for entry in entries {
            let (id, name) = (escaped(&entry.rule_id), escaped(&entry.name));
            let class = change.name();
            let _never_fails = writeln!(
                out,
                "<tr class=\"{class}\"><td><code>{id}</code></td><td>{name}</td></tr>"
            );
        }
        out.push_str("</table>\n");
    }
    out.push_str("</body></html>\n");
    out
}

/// What a rule demands, where it is written, and how each version tests it.
pub(crate) fn rule(rule: &RegisteredRule) -> String {
    let mut lines = vec![format!("{}  {}", rule.id, rule.name), String::new()];
    lines.extend(
        wrapped(&rule.description)
            .into_iter()
            .map(|line| format!("  {line}")),
    );
    lines.push(String::new());
    let transports: Vec<_> = rule.applies_to.iter().map(|one| one.name()).collect();
    let source = rule.spec_citation.as_deref().unwrap_or_default();
    let facts = [
        ("level", rule.severity.name().to_owned()),
        ("section", rule.section.name().to_owned()),
        ("over", transports.join(", ")),
        (
            "needs",
            rule.applicability
                .clone()
                .unwrap_or_else(|| "nothing".to_owned()),
        ),
        ("versions", rule.spec_versions.join(", ")),
        ("source", source.to_owned()),
        ("see also", rule.references.join(", ")),
    ];
    for (name, value) in facts.iter().filter(|(_, value)| !value.is_empty()) {
        for (number, line) in wrapped(value).iter().enumerate() {
            let name = if number == 0 { name } else { "" };
            lines.push(format!("  {name:<10} {line}"));
        }
    }
    for version in &rule.spec_versions {
        let corpus = VersionCorpus::embedded(version);
        lines.extend([String::new(), format!("In {version}:")]);
        match corpus.as_ref().and_then(|corpus| corpus.rule(&rule.id)) {
            Some(tested) => lines.extend(tests(tested)),
            None => lines.push("  is not in the corpus of this version".to_owned()),
        }
    }
    let mut out = String::new();
    for line in lines {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Why a version has no test for a rule.
fn untested(rule: &Rule) -> &'static str {
    let names_an_invariant = |notes: &String| notes.contains("INV-");
    if rule.notes.as_ref().is_some_and(names_an_invariant) {
        "  is checked passively: an invariant checks the traffic, and no call is made for it"
    } else {
        "  is not exercised"
    }
}

fn tests(rule: &Rule) -> Vec<String> {
    let mut lines = Vec::new();
    for assertion in &rule.assertions {
        let sent = match &assertion.call {
            None => "the answer to the opening".to_owned(),
            Some(call) => call.words(),
        };
        lines.extend(wrapped(&sent).into_iter().map(|line| format!("  {line}")));
        let expected = format!("expects {}", assertion.expect.written);
        lines.extend(
            wrapped(&expected)
                .into_iter()
                .map(|line| format!("    {line}")),
        );
    }
    if rule.assertions.is_empty() {
        lines.push(untested(rule).to_owned());
    }
    let notes = rule.notes.iter().flat_map(|notes| wrapped(notes));
    lines.extend(notes.map(|line| format!("  {line}")));
    lines
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em}\
    td{padding:.1em 1em .1em 0;vertical-align:top}.changed td{font-weight:bold}";

fn of(diff: &VersionDiff, change: Change) -> impl Iterator<Item = &Entry> {
    diff.entries
        .iter()
        .filter(move |entry| entry.change == change)
}

fn counts(summary: Summary) -> String {
    let Summary {
        unchanged,
        changed,
        added,
        removed,
    } = summary;
    format!("{changed} changed, {added} added, {removed} removed, {unchanged} unchanged")
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// A text for a table cell.
fn cell(text: &str) -> String {
    safe(text).replace('|', "\\|").replace('<', "&lt;")
}

fn escaped(text: &str) -> String {
    let text = safe(text).replace('&', "&amp;");
    text.replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hostile() -> VersionDiff {
        VersionDiff {
            from: "v1".to_owned(),
            to: "<b>".to_owned(),
            entries: vec![Entry {
                rule_id: "PROTO-001".to_owned(),
                change: Change::Changed,
                name: "a | <script>\u{1b}[2J".to_owned(),
            }],
            summary: Summary {
                changed: 1,
                ..Summary::default()
            },
        }
    }

    #[test]
    fn a_name_of_a_corpus_breaks_no_format() {
        assert!(!html(&hostile()).contains("<script>"));
        assert!(markdown(&hostile()).contains("a \\| &lt;script>"));
        for text in [pretty(&hostile()), markdown(&hostile()), html(&hostile())] {
            assert!(!text.contains('\u{1b}'), "{text}");
        }
    }
}
