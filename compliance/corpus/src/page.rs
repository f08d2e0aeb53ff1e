//! The page of a version: the changes of its revision, and all its rules.

use std::fmt::Write as _;

use tapewright_config::corpus::{RegisteredRule, Registry, Rule, Section};

use crate::changes;
use crate::version::VersionCorpus;

/// The page of a version, as Markdown, without its first line.
#[must_use]
pub fn markdown(registry: &Registry, corpus: &VersionCorpus) -> String {
    let mut out = String::new();
    changed(corpus, &mut out);
    line(&mut out, format_args!("## Rules\n"));
    count(registry, corpus, &mut out);
    for section in Section::ALL {
        let rules = registry.of_version(&corpus.version);
        let rules: Vec<_> = rules.filter(|rule| rule.section == section).collect();
        if rules.is_empty() {
            continue;
        }
        line(&mut out, format_args!("### {}\n", section.name()));
        line(
            &mut out,
            format_args!(
                "| rule | level | what it demands | where it is written | tested |\n|---|---|---|---|---|"
            ),
        );
        for rule in rules {
            row(rule, corpus.rule(&rule.id), &mut out);
        }
        line(&mut out, format_args!(""));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn changed(corpus: &VersionCorpus, out: &mut String) {
    let changes: Vec<_> = changes::of(corpus.revision().unwrap_or_default()).collect();
    if changes.is_empty() {
        return;
    }
    line(
        out,
        format_args!("## What changed\n\n| change | tested by |\n|---|---|"),
    );
    for change in changes {
        let tests = match change.tested_by {
            [] => "nothing: no message shows it".to_owned(),
            ids => ids.join(", "),
        };
        line(out, format_args!("| {} | {tests} |", change.what));
    }
    line(out, format_args!(""));
}

fn count(registry: &Registry, corpus: &VersionCorpus, out: &mut String) {
    let all = registry.of_version(&corpus.version).count();
    let tested = corpus
        .rules
        .iter()
        .filter(|rule| !rule.assertions.is_empty())
        .count();
    line(
        out,
        format_args!("{all} rules, of which {tested} are tested by calls.\n"),
    );
}

fn row(rule: &RegisteredRule, tested: Option<&Rule>, out: &mut String) {
    let how = match tested {
        Some(tested) if !tested.assertions.is_empty() => transports(rule),
        Some(tested) => tested.notes.clone().unwrap_or_else(|| "no".to_owned()),
        None => "it is not in the corpus of this version".to_owned(),
    };
    line(
        out,
        format_args!(
            "| {} | {} | **{}.** {} | {} | {} |",
            rule.id,
            rule.severity.name(),
            cell(&rule.name),
            cell(&rule.description),
            cell(rule.spec_citation.as_deref().unwrap_or_default()),
            cell(&how),
        ),
    );
}

fn transports(rule: &RegisteredRule) -> String {
    let names: Vec<_> = rule.applies_to.iter().map(|one| one.name()).collect();
    names.join(", ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _never_fails = writeln!(out, "{text}");
}
