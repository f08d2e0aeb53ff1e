//! The data that is embedded in the program.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tapewright_assertions::compile;
use tapewright_config::corpus::{DRAFT, Read, Registry, Section, Severity};
use tapewright_config::source::{Source, Sources};
use tapewright_corpus::diff::Change;
use tapewright_corpus::diff_versions;
use tapewright_corpus::version::{VersionCorpus, embedded_versions};
use tapewright_corpus::{official, registry};

/// The versions of the documented registry.
const DOCUMENTED: [&str; 4] = ["v2024-11-05", "v2025-03-26", "v2025-06-18", DRAFT];

/// The versions whose corpora only contain their differences.
const SMALL: [&str; 2] = ["v2025-06-18", DRAFT];

fn sound<T>(read: Read<T>) -> T {
    let said: Vec<String> = read
        .issues
        .iter()
        .map(|issue| {
            let place = issue.place.as_ref().unwrap();
            let line = read.sources.excerpt(place).unwrap().line;
            format!(
                "{}:{line}: {}",
                read.sources.path(place.file).display(),
                issue.message
            )
        })
        .collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
    read.value.unwrap()
}

fn the_registry() -> Registry {
    sound(registry::embedded())
}

fn corpus(version: &str) -> VersionCorpus {
    VersionCorpus::embedded(version).unwrap()
}

fn ids<'a>(ids: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    ids.cloned().collect()
}

#[test]
fn the_registry_and_every_corpus_have_no_issues() {
    the_registry();
    for version in embedded_versions() {
        assert!(
            !sound(VersionCorpus::embedded_read(version).unwrap())
                .rules
                .is_empty(),
            "{version}"
        );
    }
    assert!(VersionCorpus::embedded("v1999-01-01").is_none());
}

#[test]
fn every_file_of_the_folders_is_part_of_the_program_as_it_stands_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut versions = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.join("proto.yml").exists() {
            versions.push(path.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    versions.sort();
    assert_eq!(versions, sorted(embedded_versions().map(str::to_owned)));
    for version in versions {
        let entries = fs::read_dir(folder.join(&version)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let files = sorted(names.map(|name| {
            let path = format!("compliance/{version}/{name}");
            let text = fs::read_to_string(folder.join(&version).join(name)).unwrap();
            (path, text)
        }));
        assert_eq!(files, texts(&corpus(&version).sources), "{version}");
    }
    let registry = fs::read_to_string(folder.join("registry.yml")).unwrap();
    let path = "compliance/registry.yml".to_owned();
    assert_eq!(texts(&registry::embedded().sources), [(path, registry)]);
    let official = fs::read_to_string(folder.join("official.yml")).unwrap();
    assert_eq!(official::built_in(), official::read(&official).unwrap());
}

/// Paths and their contents, sorted.
fn texts(sources: &Sources) -> Vec<(String, String)> {
    let text = |source: &Source| {
        (
            source.path.to_str().unwrap().to_owned(),
            source.text.clone(),
        )
    };
    sorted(sources.iter().map(text))
}

fn sorted<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<_> = all.collect();
    all.sort();
    all
}

#[test]
fn the_documented_registry_is_whole() {
    let registry = the_registry();
    let documented: Vec<_> = registry.of_version("v2025-06-18").collect();
    assert_eq!(documented.len(), 69);
    let levels = |level: Severity| {
        documented
            .iter()
            .filter(|rule| rule.severity == level)
            .count()
    };
    assert_eq!(
        [Severity::Must, Severity::Should, Severity::May].map(levels),
        [44, 24, 1]
    );
    let sections = |section: Section| {
        documented
            .iter()
            .filter(|rule| rule.section == section)
            .count()
    };
    assert_eq!(Section::ALL.map(sections), [12, 13, 7, 6, 31]);
    let versions = |version: &str| registry.of_version(version).count();
    assert_eq!(DOCUMENTED.map(versions), [47, 69, 69, 69]);
    let categories = [
        ("PROTO", 8),
        ("SCHEMA", 5),
        ("SEQ", 4),
        ("TOOL", 5),
        ("RES", 3),
        ("PROMPT", 2),
        ("EDGE", 10),
        ("HEADER", 4),
        ("REPLAY", 3),
        ("TRANSPORT", 3),
        ("ELICIT", 2),
        ("SAMPLE", 2),
        ("ROOTS", 2),
        ("COMPL", 2),
        ("RESTPL", 2),
        ("PROG", 2),
        ("AUTH", 10),
    ];
    for (category, count) in categories {
        let found = documented
            .iter()
            .filter(|rule| rule.category == category)
            .count();
        assert_eq!(found, count, "{category}");
    }
}

#[test]
fn a_rule_of_ours_is_in_no_documented_version() {
    for rule in &the_registry().rules {
        let documented = DOCUMENTED
            .iter()
            .filter(|version| rule.is_of(version))
            .count();
        let is_late = !rule.is_of("v2024-11-05");
        assert!(
            documented == 0 || documented == 4 || (documented == 3 && is_late),
            "{}",
            rule.id
        );
    }
}

#[test]
fn a_corpus_has_the_rules_that_the_registry_gives_its_version() {
    let registry = the_registry();
    for version in embedded_versions() {
        let registered = ids(registry.of_version(version).map(|rule| &rule.id));
        let corpus = corpus(version);
        let held = ids(corpus.rules.iter().map(|rule| &rule.id));
        if SMALL.contains(&version) {
            assert!(held.is_subset(&registered), "{version}");
        } else {
            assert_eq!(held, registered, "{version}");
        }
        for rule in &corpus.rules {
            let known = registry.rule(&rule.id).unwrap();
            assert_eq!(rule.name, known.name, "{}", rule.id);
            assert!(
                rule.applies_to.is_empty() || rule.applies_to == known.applies_to,
                "{}",
                rule.id
            );
            assert!(
                !rule.assertions.is_empty() || rule.notes.is_some(),
                "{version} {} says nothing",
                rule.id
            );
        }
    }
}

#[test]
fn every_rule_of_the_registry_is_cited() {
    for rule in the_registry().rules {
        let cited = rule.spec_citation.unwrap_or_default();
        assert!(
            cited.contains('§') || cited.contains("RFC"),
            "{}: {cited}",
            rule.id
        );
        assert!(!rule.description.is_empty(), "{}", rule.id);
    }
}

#[test]
fn every_schema_compiles() {
    for version in embedded_versions() {
        for rule in corpus(version).rules {
            for assertion in &rule.assertions {
                let Some(schema) = &assertion.expect.schema else {
                    continue;
                };
                let assertion =
                    serde_json::json!({"target": "result", "matcher": {"schema": schema}});
                assert!(
                    compile(&assertion).is_ok(),
                    "{version} {}: {:?}",
                    rule.id,
                    compile(&assertion).err()
                );
            }
        }
    }
}

#[test]
fn moving_from_the_first_revision_to_2025_06_18_breaks_one_rule() {
    let diff = diff_versions(&corpus("v2024-11-05"), &corpus("v2025-06-18"));
    assert!(!diff.is_clean());
    let changed: Vec<_> = diff
        .changed_rules()
        .map(|entry| entry.rule_id.as_str())
        .collect();
    assert_eq!(changed, ["PROTO-002"]);
    assert_eq!(diff.summary.unchanged, 0);
    assert_eq!(diff.summary.removed, 46);
    for id in ["ELICIT-001", "SAMPLE-001", "ROOTS-001", "RESTPL-001"] {
        let entry = diff
            .entries
            .iter()
            .find(|entry| entry.rule_id == id)
            .unwrap();
        assert_eq!(entry.change, Change::Added, "{id}");
    }
}

#[test]
fn moving_from_the_first_revision_to_the_draft_is_clean() {
    let diff = diff_versions(&corpus("v2024-11-05"), &corpus(DRAFT));
    assert!(diff.is_clean());
    let shared: Vec<_> = diff
        .entries
        .iter()
        .filter(|entry| entry.change == Change::Unchanged)
        .collect();
    assert_eq!(shared.len(), 1);
    assert_eq!(
        shared
            .iter()
            .map(|entry| entry.rule_id.as_str())
            .collect::<Vec<_>>(),
        ["PROTO-008"]
    );
}

#[test]
fn a_rule_that_no_call_puts_to_the_test_says_why() {
    let registry = the_registry();
    let mut wrong = Vec::new();
    for version in embedded_versions() {
        let corpus = corpus(version);
        for rule in registry.of_version(version) {
            let Some(tested) = corpus.rule(&rule.id) else {
                if !SMALL.contains(&version) {
                    wrong.push(format!("{version} has no {}", rule.id));
                }
                continue;
            };
            let notes = tested.notes.as_deref().unwrap_or_default();
            if tested.assertions.is_empty() && notes.is_empty() {
                wrong.push(format!("{version} {}: no reason", rule.id));
            }
            // An invariant that judges in place of a call must be mapped to the same rule in the
            // registry.
            for word in notes.split(|one: char| !one.is_ascii_alphanumeric() && one != '-') {
                if word.starts_with("INV-") && !rule.references.iter().any(|one| one == word) {
                    wrong.push(format!(
                        "{version} {}: {word} is not in the registry",
                        rule.id
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
