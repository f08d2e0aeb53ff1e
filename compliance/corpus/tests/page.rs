//! The page of each version matches the tables. `TAPEWRIGHT_BLESS=1` rewrites the pages.

use std::fs;
use std::path::Path;

use tapewright_compliance::code::Code;
use tapewright_compliance::revision::Revisions;
use tapewright_compliance::table::find;
use tapewright_corpus::version::embedded_versions;
use tapewright_corpus::{VersionCorpus, changes, page, registry};

const FROM: &str = "<!-- From `compliance/` and `compliance/corpus/src/changes.rs`: TAPEWRIGHT_BLESS=1 cargo test -p tapewright-corpus -->\n\n";

#[test]
fn the_pages_are_not_stale() {
    let registry = registry::embedded().value.unwrap();
    for version in embedded_versions() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("../../docs/revisions/{version}.md"));
        let corpus = VersionCorpus::embedded(version).unwrap();
        let wanted = format!(
            "# {version}\n\n{FROM}{}",
            page::markdown(&registry, &corpus)
        );
        if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
            fs::write(&path, &wanted).unwrap();
            continue;
        }
        let found = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "docs/revisions/{version}.md is stale; TAPEWRIGHT_BLESS=1 writes it anew"
        );
    }
}

#[test]
fn what_tests_a_change_is_a_rule_or_an_invariant_of_its_revision() {
    let registry = registry::embedded().value.unwrap();
    let is_of = |id: &str, name: &str| match id.parse::<Code>() {
        Ok(code) => {
            let revision = Revisions::named(name).unwrap();
            find(code).is_some_and(|rule| rule.levels.revisions().covers(revision))
        }
        Err(_) => registry
            .rule(id)
            .is_some_and(|rule| rule.is_of(&format!("v{name}"))),
    };
    let strange: Vec<String> = changes::CHANGES
        .iter()
        .flat_map(|change| change.tested_by.iter().map(|id| (*id, change.revision)))
        .filter(|(id, revision)| !is_of(id, revision))
        .map(|(id, revision)| format!("{id} is not of {revision}"))
        .collect();
    assert!(strange.is_empty(), "{}", strange.join("\n"));
}

#[test]
fn what_a_rule_refers_to_is_there() {
    for rule in registry::embedded().value.unwrap().rules {
        for reference in &rule.references {
            let known = reference.starts_with("https://modelcontextprotocol.io/specification/")
                || reference.starts_with("conformance:")
                || reference.starts_with("RFC ")
                || reference
                    .parse::<Code>()
                    .is_ok_and(|code| find(code).is_some());
            assert!(known, "{}: {reference}", rule.id);
        }
    }
}
