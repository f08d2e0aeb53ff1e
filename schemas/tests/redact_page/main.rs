//! The page about redaction matches the table of shapes, and its coverage: it is measured by public
//! lists of rules, and the page's statement about each rule is true.

mod detect_secrets;
mod gitleaks;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use tapewright_schemas::redact::{Redactor, Rules, Settings, page};

const SHAPES: &str = "<!-- made from the table of shapes: TAPEWRIGHT_BLESS=1 cargo test --workspace --test redact_page -->\n\n";
const COVERAGE: &str = "<!-- made from schemas/tests/redact_page -->\n\n";

/// What catches the secrets of a rule.
pub(crate) enum Caught {
    /// The name that such a secret commonly has, such as this one.
    ByName(&'static str),
    /// Its place in a text; `{}` is the secret.
    ByPlace(&'static str),
    /// A shape of this kind.
    ByShape(&'static str),
    /// Nothing, for this reason.
    Not(&'static str),
}

fn redacted(text: &str) -> String {
    let rules = Rules::new(&Settings::default()).expect("the rules are valid");
    let mut redactor = Redactor::new(Arc::new(rules));
    String::from_utf8_lossy(&redactor.text(text.as_bytes())).into_owned()
}

fn lists() -> [(&'static str, &'static [(&'static str, Caught)]); 2] {
    [
        ("gitleaks", gitleaks::RULES),
        ("detect-secrets", detect_secrets::RULES),
    ]
}

#[test]
fn every_rule_is_caught_as_the_page_says() {
    for (list, rules) in lists() {
        for (id, caught) in rules {
            match caught {
                Caught::ByName(name) => {
                    for text in [
                        format!("{name}=a1B2c3D4e5F6g7H8"),
                        format!("{{\"{name}\": \"a1B2c3D4e5F6g7H8\"}}"),
                    ] {
                        let shown = redacted(&text);
                        assert!(!shown.contains("a1B2"), "{list} {id}: {shown}");
                    }
                }
                Caught::ByPlace(text) => {
                    let shown = redacted(&text.replace("{}", "hunter22x"));
                    assert!(!shown.contains("hunter22x"), "{list} {id}: {shown}");
                }
                // The table tests the example of each shape itself.
                Caught::ByShape(kind) => assert!(page::is_kind(kind), "{list} {id}: {kind}"),
                Caught::Not(why) => assert!(why.len() > 10, "{list} {id}"),
            }
        }
    }
}

#[test]
fn no_rule_is_listed_twice() {
    for (list, rules) in lists() {
        assert!(
            rules.is_sorted_by(|(one, _), (next, _)| one < next),
            "{list}"
        );
    }
}

/// The rules as a table.
fn coverage() -> String {
    let mut out = String::new();
    for (list, rules) in lists() {
        let count = |fits: fn(&Caught) -> bool| rules.iter().filter(|(_, one)| fits(one)).count();
        writeln!(
            out,
            "Of the {} rules of {list}, {} are caught by shape, {} by name, {} by place, and {} are not.\n\n| rule of {list} | caught | by |\n|---|---|---|",
            rules.len(),
            count(|one| matches!(one, Caught::ByShape(_))),
            count(|one| matches!(one, Caught::ByName(_))),
            count(|one| matches!(one, Caught::ByPlace(_))),
            count(|one| matches!(one, Caught::Not(_))),
        )
        .expect("a string takes all");
        for (id, caught) in rules {
            let (how, what) = match caught {
                Caught::ByName(name) => ("by name", format!("such as `{name}`")),
                Caught::ByPlace(text) => ("by place", format!("`{}`", text.replace("{}", "…"))),
                Caught::ByShape(kind) => ("by shape", (*kind).to_owned()),
                Caught::Not(why) => ("no", (*why).to_owned()),
            };
            writeln!(out, "| {id} | {how} | {what} |").expect("a string takes all");
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_page_is_of_these_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/redaction.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (words, rest) = text.split_once(SHAPES).expect("the mark is there");
    let (_, rest) = rest.split_once("\n## ").expect("another part follows");
    let (between, _) = rest.split_once(COVERAGE).expect("the mark is there");
    let wanted = format!(
        "{words}{SHAPES}{}\n## {between}{COVERAGE}{}",
        page::markdown(),
        coverage().trim_end()
    ) + "\n";
    if std::env::var_os("TAPEWRIGHT_BLESS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    } else {
        assert_eq!(
            text, wanted,
            "docs/redaction.md is stale; TAPEWRIGHT_BLESS=1 writes it anew"
        );
    }
}
