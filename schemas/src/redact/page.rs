//! The table of shapes as a page for users.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::shapes::shapes;

/// Every kind of token that is recognized by its shape, with its beginning or fixed part, and its
/// documentation, as a table in Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut kinds: BTreeMap<&str, (Vec<&str>, &str)> = BTreeMap::new();
    for shape in shapes() {
        let kind = kinds.entry(shape.kind).or_default();
        kind.0.extend(shape.prefixes);
        kind.1 = shape.docs;
    }
    let mut out = String::from("| kind | begins with, or holds | documented by |\n|---|---|---|\n");
    for (kind, (prefixes, docs)) in kinds {
        let prefixes: Vec<String> = prefixes.iter().map(|one| format!("`{one}`")).collect();
        let host = docs.split('/').nth(2).unwrap_or(docs);
        // Writing to a string does not fail.
        let _never_fails = writeln!(
            out,
            "| {kind} | {} | [{host}]({docs}) |",
            prefixes.join(" ")
        );
    }
    out
}

/// Whether there is a shape of this kind.
#[must_use]
pub fn is_kind(kind: &str) -> bool {
    shapes().any(|shape| shape.kind == kind)
}
