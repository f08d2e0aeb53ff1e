//! `tapewright compliance diff`, and corpora of a folder.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tapewright_corpus::registry;

use crate::cli::golden::{folder, golden, run};

/// Corpora with errors, and their messages.
fn bad() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/corpora")
}

#[test]
fn what_a_revision_breaks_is_told_in_every_format() {
    let folder = folder(&[]);
    let diff = |format: &str| {
        let (status, stdout, stderr) = run(
            folder.path(),
            &[
                "compliance",
                "diff",
                "v2024-11-05",
                "v2025-06-18",
                "--format",
                format,
            ],
        );
        assert_eq!((status, stderr.as_str()), (0, ""), "{format}");
        stdout
    };
    let found: Value = serde_json::from_str(&diff("json")).unwrap();
    assert_eq!(
        found["summary"],
        json!({"unchanged": 0, "changed": 1, "added": 22, "removed": 46})
    );
    let keys: Vec<_> = found.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["from", "to", "entries", "summary"]);
    let changed: Vec<_> = found["entries"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["change"] == "changed")
        .collect();
    let name = "initialize returns negotiated capabilities";
    assert_eq!(
        changed,
        [&json!({"rule_id": "PROTO-002", "change": "changed", "name": name})]
    );
    let line = format!("[CHANGED]   PROTO-002     {name}");
    assert!(diff("pretty").contains(&line));
    assert!(diff("markdown").contains(&format!(
        "### Changed\n\n| rule | |\n|---|---|\n| PROTO-002 | {name} |\n"
    )));
    assert!(diff("html").contains(&format!("<td><code>PROTO-002</code></td><td>{name}</td>")));
}

#[test]
fn an_unknown_version_is_an_error_that_names_those_that_there_are() {
    let folder = folder(&[]);
    golden(
        "corpora_unknown_version",
        folder.path(),
        &["compliance", "diff", "v2024-11-05", "v1999-01-01"],
    );
    golden(
        "corpora_near_version",
        folder.path(),
        &["compliance", "diff", "v2024-11-05", "v2025-6-18"],
    );
    golden(
        "corpora_no_registry",
        folder.path(),
        &["compliance", "diff", "a", "b", "--registry", "missing.yml"],
    );
}

#[test]
fn every_mistake_of_a_corpus_is_shown_where_it_is() {
    let diff = |from| {
        [
            "compliance",
            "diff",
            from,
            "draft",
            "--registry",
            "sound/registry.yml",
        ]
    };
    for version in ["v2024-11-05", "v2025-03-26", "v2025-06-18", "v2025-11-25"] {
        golden(&format!("corpora_bad_{version}"), &bad(), &diff(version));
    }
    golden(
        "corpora_bad_registry",
        &bad(),
        &[
            "compliance",
            "diff",
            "draft",
            "draft",
            "--registry",
            "bad-registry.yml",
        ],
    );
    golden("corpora_unregistered", &bad(), &diff("v2026-07-28"));
}

#[test]
fn a_registry_beside_the_working_folder_is_taken() {
    let folder = folder(&[]);
    std::fs::create_dir_all(folder.path().join("compliance")).unwrap();
    std::fs::write(
        folder.path().join("compliance/registry.yml"),
        "version: 2\n",
    )
    .unwrap();
    let (status, _, stderr) = run(folder.path(), &["compliance", "diff", "draft", "draft"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("compliance/registry.yml:1"), "{stderr}");
}

#[test]
fn every_rule_is_explained_with_how_it_is_tested() {
    let folder = folder(&[]);
    golden("explain_rule", folder.path(), &["explain", "PROTO-002"]);
    golden(
        "explain_untested_rule",
        folder.path(),
        &["explain", "auth-008"],
    );
    for rule in registry::embedded().value.unwrap().rules {
        let (status, page, _) = run(folder.path(), &["explain", &rule.id]);
        assert_eq!(status, 0, "{}", rule.id);
        assert!(
            page.starts_with(&format!("{}  {}\n", rule.id, rule.name)),
            "{page}"
        );
        for version in &rule.spec_versions {
            assert!(page.contains(version.as_str()), "{version}: {page}");
        }
    }
}
