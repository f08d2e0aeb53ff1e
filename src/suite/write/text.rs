//! Makes expectations from texts.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::expect::Expectation;
use super::shape::schema;
use super::volatile::{Piece, is_stable, pattern, pieces};
use tapewright_schemas::slices::Part as _;

/// The longest text that is expected verbatim, in characters and lines.
const EXACT: usize = 400;
const LINES: usize = 8;
/// The longest text that is expected by a pattern, in characters.
const PATTERN: usize = 200;
/// The length of a significant line, in characters.
const TELLING: std::ops::RangeInclusive<usize> = 8..=100;
/// How many lines of a long text are examined.
const LOOKED_AT: usize = 60;
/// The longest JSON text whose form is expected, in bytes.
const JSON: usize = 64 * 1024;

/// An expectation that holds for all texts.
pub(super) fn held(target: &str, texts: &[&str]) -> Expectation {
    let first = texts.first().copied().unwrap_or_default();
    let same = texts.iter().all(|one| *one == first);
    let short = first.chars().count() <= EXACT && first.lines().count() <= LINES;
    if same && short && is_stable(first) {
        return Expectation::exact(target, &json!(first));
    }
    if let Some(form) = json_form(texts) {
        return Expectation::new(target, "is-json", json!({ "schema": form }));
    }
    if let Some(pattern) = common_pattern(texts) {
        return Expectation::new(target, "regex", json!(pattern));
    }
    if let Some(line) = telling_line(texts) {
        return Expectation::new(target, "contains", json!(line));
    }
    if let Some(start) = common_start(texts) {
        return Expectation::new(target, "starts-with", json!(start));
    }
    let least = usize::from(texts.iter().all(|one| !one.is_empty()));
    Expectation::new(
        target,
        "schema",
        json!({ "type": "string", "minLength": least }),
    )
}

/// Whether no part of a value looks variable.
pub(super) fn is_stable_value(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= EXACT * 4 && is_stable(text),
        Value::Number(number) => is_stable(&number.to_string()),
        Value::Array(all) => all.iter().all(is_stable_value),
        Value::Object(all) => all
            .iter()
            .all(|(name, one)| is_stable(name) && is_stable_value(one)),
        Value::Null | Value::Bool(_) => true,
    }
}

/// The form of texts that are JSON, unless it is a single value.
fn json_form(texts: &[&str]) -> Option<Value> {
    let read = |text: &&str| {
        let begins = text.trim_start().starts_with(['{', '[']);
        let short = text.len() <= JSON;
        serde_json::from_str(text)
            .ok()
            .filter(|_: &Value| begins && short)
    };
    let values: Option<Vec<Value>> = texts.iter().map(read).collect();
    let values = values?;
    Some(schema(&values.iter().collect::<Vec<_>>()))
}

fn common_pattern(texts: &[&str]) -> Option<String> {
    let first = *texts.first()?;
    if first.chars().count() > PATTERN || first.contains('\n') {
        return None;
    }
    let pieces = pieces(first);
    let says = |piece: &Piece<'_>| matches!(piece, Piece::Stable(text) if text.trim().len() > 1);
    if !pieces.iter().any(says) {
        return None;
    }
    let pattern = pattern(&pieces);
    let compiled = regex::Regex::new(&pattern).ok()?;
    texts
        .iter()
        .all(|one| compiled.is_match(one))
        .then_some(pattern)
}

/// The first stable line that all texts have.
fn telling_line<'t>(texts: &[&'t str]) -> Option<&'t str> {
    let (first, others) = texts.split_first()?;
    let others: Vec<HashSet<&str>> = others
        .iter()
        .map(|one| one.lines().take(4 * LOOKED_AT).map(str::trim).collect())
        .collect();
    let telling = |line: &&str| {
        TELLING.contains(&line.chars().count())
            && line.chars().any(char::is_alphabetic)
            && is_stable(line)
            && others.iter().all(|one| one.contains(line))
    };
    first.lines().take(LOOKED_AT).map(str::trim).find(telling)
}

/// The common beginning of all texts, up to the end of a word.
fn common_start<'t>(texts: &[&'t str]) -> Option<&'t str> {
    let (first, others) = texts.split_first()?;
    let line = first.lines().next()?;
    let cut = line
        .char_indices()
        .nth(PATTERN)
        .map_or(line.len(), |(at, _)| at);
    let line: &str = match pieces(line.part(..cut)).first()? {
        Piece::Stable(text) => line.part(..text.len()),
        Piece::Volatile(_) => return None,
    };
    let end = line
        .char_indices()
        .map(|(at, char)| (at, at + char.len_utf8()))
        .take_while(|(at, end)| {
            others
                .iter()
                .all(|one| one.get(*at..*end) == line.get(*at..*end))
        })
        .map(|(_, end)| end)
        .last()?;
    let common = line.part(..end);
    // The rest of a cut word may differ next time.
    let whole = if end == first.len() {
        common
    } else {
        common.part(..=common.rfind(' ')?)
    };
    let whole = whole.trim_end();
    (whole.len() >= *TELLING.start()).then_some(whole)
}
