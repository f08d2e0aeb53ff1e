//! Differences between two values, as text.

use similar::DiffTag;
use tapewright_schemas::slices::Part as _;

use crate::json::Json;
use crate::lines::{differing, hunks};

/// What must be added to (`+`) and removed from (`-`) `expected` to get `actual`.
///
/// Short texts are compared by characters, everything else by lines. `None` if that would be
/// uninformative, or take long.
pub(crate) fn diff(expected: &Json, actual: &Json) -> Option<String> {
    let (one, other) = match (expected, actual) {
        (Json::String(one), Json::String(other)) => (one.clone(), other.clone()),
        (Json::Array(_), Json::Array(_)) | (Json::Object(_), Json::Object(_)) => {
            (format!("{expected:#}"), format!("{actual:#}"))
        }
        _ => return None,
    };
    if one.len().max(other.len()) > BYTES {
        return None;
    }
    if one.contains('\n') || other.contains('\n') {
        return Some(lines(&one, &other));
    }
    if one.len().max(other.len()) > LINE_BYTES {
        return None;
    }
    Some(characters(&one, &other))
}

fn lines(one: &str, other: &str) -> String {
    let mut text = String::new();
    for line in hunks(one, other, 2) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The runs of characters that were added or removed, in order.
fn characters(one: &str, other: &str) -> String {
    let (one, other) = (each(one), each(other));
    let mut told = Vec::new();
    for change in differing(&one, &other).ops() {
        let (tag, old, new) = change.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        for (sign, run) in [('-', one.part(old)), ('+', other.part(new))] {
            if !run.is_empty() {
                told.push(format!("{sign}{}", run.concat()));
            }
        }
    }
    told.join(" ")
}

fn each(text: &str) -> Vec<&str> {
    text.split_inclusive(|_: char| true).collect()
}

/// Longer values are shown, not compared: the time is quadratic.
const BYTES: usize = 64 << 10;
const LINE_BYTES: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(one: &str, other: &str) -> Option<String> {
        let read = |text: &str| Json::read(text.as_bytes()).unwrap();
        diff(&read(one), &read(other))
    }

    #[test]
    fn short_texts_by_characters() {
        assert_eq!(of(r#""hello, world""#, r#""hello, world!""#).unwrap(), "+!");
        assert_eq!(of(r#""grey""#, r#""gray""#).unwrap(), "-e +a");
    }

    #[test]
    fn everything_else_by_lines() {
        let text = of(r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#).unwrap();
        assert!(text.contains("-  \"b\": 2\n+  \"b\": 3"), "{text}");
        assert_eq!(of("1", "\"1\""), None);
        let long = format!("\"{}\"", "x".repeat(BYTES + 1));
        assert_eq!(of(&long, "\"y\""), None);
    }
}
