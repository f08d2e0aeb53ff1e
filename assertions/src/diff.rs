//! What differs between two values, as text.

use similar::{ChangeTag, TextDiff};

use crate::json::Json;

/// What has to be added to (`+`) and taken from (`-`) `expected` to get `actual`.
///
/// Short texts are compared by characters, everything else by lines. `None` when that would
/// say nothing, or take long.
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
    TextDiff::from_lines(one, other)
        .unified_diff()
        .context_radius(2)
        .missing_newline_hint(false)
        .to_string()
}

/// The runs of characters that were added or removed, in order.
fn characters(one: &str, other: &str) -> String {
    let mut out = String::new();
    let mut last = ChangeTag::Equal;
    for change in TextDiff::from_chars(one, other).iter_all_changes() {
        let tag = change.tag();
        if tag != ChangeTag::Equal {
            if tag != last {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push(if tag == ChangeTag::Insert { '+' } else { '-' });
            }
            out.push_str(change.value());
        }
        last = tag;
    }
    out
}

/// Longer values are shown, not compared: the time goes with the square.
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
