//! YAML: what is accepted, what is rejected, and the limits.

use super::{load_files, load_text, shown};
use crate::to_json;

#[test]
fn documents_are_json_with_places() {
    let text = "\u{feff}a: &x {b: [1, ~, 'it''s', \"\\u00e9\"]}\nc: *x\n? d\n: |\n  two\n  lines\n*y : 1\n";
    assert!(to_json(text).is_none());
    let text = "a: &x {b: [1, ~, 'it''s', \"\\u00e9\"]}\nc: *x\n? d\n: |\n  two\n  lines\n1: !!str 5\ne: !mine 5\nf: !!int \"7\"\ng: ! 5\nh:\n";
    let expected = serde_json::json!({
        "a": {"b": [1, null, "it's", "é"]}, "c": {"b": [1, null, "it's", "é"]}, "d": "two\nlines\n",
        "1": "5", "e": 5, "f": 7, "g": "5", "h": null,
    });
    assert_eq!(to_json(text), Some(expected));
}

#[test]
fn laughs_depth_and_size_are_bounded() {
    let mut laughs = String::from("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*l{}", level - 1);
        let list = vec![below; 10].join(", ");
        laughs = format!("{laughs}l{level}: &l{level} [{list}]\n");
    }
    assert!(shown(&load_text(&laughs))[0].contains("values, with aliases written out"));
    for deep in [
        "[".repeat(100_000),
        "- ".repeat(10_000),
        "{a: ".repeat(50_000),
        format!("{}1{}", "[".repeat(129), "]".repeat(129)),
    ] {
        assert!(to_json(&deep).is_none());
    }
    let long = format!(
        "a: &a \"{}\"\nb: [{}]\n",
        "x".repeat(1 << 20),
        vec!["*a"; 100].join(", ")
    );
    assert!(shown(&load_text(&long))[0].contains("values, with aliases written out"));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut files = super::Memory::of(&[]);
    files
        .0
        .insert("/s/suite.yaml".into(), b"servers:\n  \xff: 1\n".to_vec());
    let loaded = crate::load(
        "suite.yaml".as_ref(),
        &files,
        &crate::Environment::default(),
        &crate::EnvFiles::Beside,
    );
    assert_eq!(
        shown(&loaded),
        ["unreadable: cannot read `suite.yaml`: line 2 is not UTF-8"]
    );
    assert_eq!(
        shown(&load_files(&[])),
        ["unreadable: cannot read `suite.yaml`: it does not exist"]
    );
}

#[test]
fn many_mistakes_are_counted() {
    let mut suite = String::from("servers: {s: {command: [x]}}\ntools:\n");
    for _ in 0..500 {
        suite.push_str("  - {}\n");
    }
    let loaded = load_text(&suite);
    assert_eq!((loaded.issues.len(), loaded.dropped), (100, 1400));
    assert!(!loaded.is_valid());
}
