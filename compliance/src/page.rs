//! The table as a page for users.

use std::fmt::Write as _;

use crate::invariant::{Invariant, Levels};
use crate::table::{SEED, TABLE};

/// Every invariant, by category in the order of the codes, as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut categories: Vec<&str> = Vec::new();
    for rule in TABLE {
        if !categories.contains(&rule.category) {
            categories.push(rule.category);
        }
    }
    let mut out = String::new();
    for category in categories {
        line(&mut out, format_args!("### {category}\n"));
        for rule in TABLE.iter().filter(|rule| rule.category == category) {
            item(rule, &mut out);
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn item(rule: &Invariant, out: &mut String) {
    let seed = if SEED.contains(&rule.code) {
        " One of the documented seven."
    } else {
        ""
    };
    line(
        out,
        format_args!("**{}** {}.{seed}  ", rule.code, capitalised(rule.property)),
    );
    line(
        out,
        format_args!(
            "*{}; {}; {}; {}.* {}\n",
            binding(rule.levels),
            rule.carriers.words(),
            rule.who.name(),
            rule.source,
            rule.why,
        ),
    );
}

/// How binding it is, and where: `MUST in 2025-06-18 and later, SHOULD in 2025-03-26`.
#[must_use]
pub fn binding(levels: Levels) -> String {
    let each: Vec<String> = levels
        .each()
        .map(|(severity, revisions)| {
            let word = match severity.name() {
                "derived" => "derived".to_owned(),
                name => name.to_ascii_uppercase(),
            };
            match revisions.words() {
                all if all == "all" => format!("{word} in all revisions"),
                some => format!("{word} in {some}"),
            }
        })
        .collect();
    each.join(", ")
}

fn capitalised(property: &str) -> String {
    let mut chars = property.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _never_fails = writeln!(out, "{text}");
}
