//! `tapewright explain`.

use crate::cli::golden::{folder, golden, run};

#[test]
fn every_invariant_is_explained_in_any_spelling() {
    let folder = folder(&[]);
    golden("explain_code", folder.path(), &["explain", "INV-012"]);
    let (_, page, _) = run(folder.path(), &["explain", "INV-012"]);
    for word in ["inv-012", "inv12", "12"] {
        assert_eq!(
            run(folder.path(), &["explain", word]),
            (0, page.clone(), String::new())
        );
    }
    let (status, list, _) = run(folder.path(), &["explain"]);
    assert_eq!(status, 0);
    let codes: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|word| word.starts_with("INV-"))
        .collect();
    assert_eq!(codes.len(), 92);
    for code in codes {
        let (status, page, errors) = run(folder.path(), &["explain", code]);
        assert_eq!((status, errors.as_str()), (0, ""));
        assert!(page.starts_with(code), "{page}");
    }
}

#[test]
fn an_unknown_code_has_near_misses() {
    let folder = folder(&[]);
    golden("explain_near_miss", folder.path(), &["explain", "INV-0l2"]);
    golden("explain_unknown", folder.path(), &["explain", "something"]);
    golden(
        "explain_unknown_number",
        folder.path(),
        &["explain", "INV-485"],
    );
}

#[test]
fn every_rule_of_a_corpus_is_explained_with_level_revisions_source_and_tests() {
    let folder = folder(&[]);
    let registry = std::fs::read_to_string("compliance/registry.yml").expect("the registry");
    let ids: Vec<&str> = registry
        .lines()
        .filter_map(|line| line.strip_prefix("  - id: "))
        .collect();
    assert!(ids.len() > 100, "{}", ids.len());
    for id in ids {
        let (status, page, errors) = run(folder.path(), &["explain", id]);
        assert_eq!((status, errors.as_str()), (0, ""), "{id}");
        assert!(page.starts_with(id), "{page}");
        let has = |start: &str| page.lines().any(|line| line.starts_with(start));
        for fact in ["  level      ", "  versions   ", "  source     ", "In v20"] {
            assert!(has(fact), "{id} has no `{fact}`: {page}");
        }
        let versions = page.lines().filter(|line| line.starts_with("In "));
        for version in versions {
            let after = page.split(version).nth(1).unwrap_or_default();
            let how = after.lines().nth(1).unwrap_or_default();
            assert!(how.starts_with("  "), "{id} {version}: {page}");
        }
    }
}

#[test]
fn every_case_of_the_doctor_is_explained() {
    let folder = folder(&[]);
    let docs = std::fs::read_to_string("docs/migration.md").unwrap();
    let ids = docs.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split("` | ");
        let (id, rest) = (cells.next()?, cells.next()?);
        ["low", "medium", "high"]
            .iter()
            .any(|level| rest.starts_with(level))
            .then_some(id)
    });
    let mut count = 0;
    for id in ids {
        count += 1;
        let (status, page, errors) = run(folder.path(), &["explain", id]);
        assert_eq!((status, errors.as_str()), (0, ""), "{id}");
        assert!(
            page.starts_with(id) && page.contains("  instead "),
            "{page}"
        );
    }
    assert_eq!(count, 13);
}
