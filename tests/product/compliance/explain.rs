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
