//! Compares two JSON texts by value.

use std::collections::BTreeMap;

use super::{Span, members, number, unescape, valid_elements};

/// Values deeper than this are compared by their source text: the walk is recursive.
const DEPTH_LIMIT: usize = 64;

/// Whether two JSON texts have the same value: white space, the order of members, and the spelling
/// of strings and numbers do not matter. Of members with the same name the last one counts.
///
/// Both must be valid JSON; otherwise the result is unspecified.
#[must_use]
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    same(one.trim_ascii(), other.trim_ascii(), 0)
}

fn same(one: &[u8], other: &[u8], depth: usize) -> bool {
    if one == other {
        return true;
    }
    match (one, other) {
        _ if depth > DEPTH_LIMIT => false,
        ([b'{', ..], [b'{', ..]) => {
            let (one, other) = (object(one), object(other));
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    let other = other.get(name);
                    other.is_some_and(|other| same(value, other, depth + 1))
                })
        }
        ([b'[', ..], [b'[', ..]) => {
            let (one, other) = (array(one), array(other));
            let mut both = one.iter().zip(&other);
            one.len() == other.len() && both.all(|(one, other)| same(one, other, depth + 1))
        }
        ([b'"', one @ .., b'"'], [b'"', other @ .., b'"']) => {
            // Two lone surrogates have one meaning and are two values.
            matches!((text(one), text(other)), (Some(one), Some(other)) if one == other)
        }
        ([b'-' | b'0'..=b'9', ..], [b'-' | b'0'..=b'9', ..]) => number::is_same(one, other),
        _ => false,
    }
}

fn object(source: &[u8]) -> BTreeMap<Vec<u8>, &[u8]> {
    let mut found = BTreeMap::new();
    members(source, |name, value| {
        found.insert(name.to_vec(), value.trim_ascii());
    });
    found
}

fn array(source: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    valid_elements(source, |span: Span| {
        found.push(span.of(source).trim_ascii());
    });
    found
}

fn text(content: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(content.len());
    let found = unescape(content, &mut out);
    (!found.lone_surrogate).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_does_not_count_and_everything_else_does() {
        for (one, other, is) in [
            ("1", "1.0", true),
            ("10", "1e1", true),
            ("1", "\"1\"", false),
            ("\"a\"", "\"\\u0061\"", true),
            ("\"\\ud800\"", "\"\\ud801\"", false),
            ("null", "false", false),
            ("[1, 2]", "[1.0,2]", true),
            ("[1,2]", "[2,1]", false),
            ("[1]", "[1,1]", false),
            (
                "{\"a\":1,\"b\":[{}]}",
                " { \"b\" : [ { } ], \"\\u0061\" : 1.0 } ",
                true,
            ),
            ("{\"a\":1}", "{\"a\":2}", false),
            ("{\"a\":1}", "{\"b\":1}", false),
            ("{\"a\":1,\"a\":2}", "{\"a\":2}", true),
            ("{}", "[]", false),
        ] {
            assert_eq!(
                is_same(one.as_bytes(), other.as_bytes()),
                is,
                "{one} {other}"
            );
            assert_eq!(
                is_same(other.as_bytes(), one.as_bytes()),
                is,
                "{one} {other}"
            );
        }
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |inner: &str| "[".repeat(2_000) + inner + &"]".repeat(2_000);
        assert!(is_same(deep("1").as_bytes(), deep("1").as_bytes()));
        assert!(!is_same(deep("1").as_bytes(), deep("1.0").as_bytes()));
    }
}
