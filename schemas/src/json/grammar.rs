//! Finds the end of a value and validates its grammar, for code that needs no tokens: a few
//! instructions per token instead of dozens.

use super::plain::plain_run;
use super::{Scanner, Span, Text};
use crate::slices::Part as _;

/// The maximum number of open containers before the work is left to a [`Scanner`].
const NEAR: u32 = 64;

/// The end of the JSON value that begins at or after `from`, within `around` open containers;
/// `None` if there is none, or it is nested too deeply.
///
/// It accepts exactly what [`Scanner::skip_value`] accepts.
pub(super) fn value_end(text: &[u8], from: usize, around: usize) -> Option<usize> {
    match near_end(text, from, around) {
        Ok(end) => Some(end),
        Err(Stop::NotJson) => None,
        Err(Stop::Deep) => {
            let mut scanner = Scanner::within(text, from, around);
            Some(scanner.skip_token_by_token().ok()?.end)
        }
    }
}

/// The end of the JSON object that begins at `from`, within `around` open containers, with its
/// grammar validated; `each` is called for its members on the way. `None` if it is not an object,
/// or nested too deeply.
pub(crate) fn members_end(
    text: &[u8],
    from: usize,
    around: usize,
    mut each: impl FnMut(Text, Span),
) -> Option<usize> {
    if text.get(from) != Some(&b'{') {
        return None;
    }
    let mut at = space(text, from + 1);
    if text.get(at) == Some(&b'}') {
        return Some(at + 1);
    }
    loop {
        if text.get(at) != Some(&b'"') {
            return None;
        }
        let (after, escaped) = string_end(text, at).ok()?;
        let span = Span {
            start: at + 1,
            end: after - 1,
        };
        let start = space(text, colon(text, after).ok()?);
        let end = value_end(text, start, around + 1)?;
        each(Text { span, escaped }, Span { start, end });
        let next = space(text, end);
        match text.get(next) {
            Some(b',') => at = space(text, next + 1),
            Some(b'}') => return Some(next + 1),
            _ => return None,
        }
    }
}

/// Why a value has no end that is found quickly.
#[derive(Debug)]
pub(super) enum Stop {
    Deep,
    NotJson,
}

/// Like [`value_end`], for values that are not deeply nested.
pub(super) fn near_end(text: &[u8], from: usize, around: usize) -> Result<usize, Stop> {
    if around > super::MAX_DEPTH - NEAR as usize {
        return Err(Stop::Deep);
    }
    walk(text, from)
}

/// The open containers: one bit for each, the innermost lowest, set for an object.
#[derive(Clone, Copy, Default)]
struct Around {
    objects: u64,
    depth: u32,
}

impl Around {
    fn enter(self, object: bool) -> Result<Self, Stop> {
        if self.depth == NEAR {
            return Err(Stop::Deep);
        }
        Ok(Self {
            objects: self.objects << 1 | u64::from(object),
            depth: self.depth + 1,
        })
    }

    fn leave(self) -> Self {
        Self {
            objects: self.objects >> 1,
            depth: self.depth - 1,
        }
    }
}

fn walk(text: &[u8], from: usize) -> Result<usize, Stop> {
    let mut around = Around::default();
    let mut at = from;
    loop {
        // A value.
        let start = space(text, at);
        at = match text.get(start) {
            Some(b'"') => string_end(text, start)?.0,
            Some(b'{') => match key(text, start + 1)? {
                Key::Value(value) => {
                    around = around.enter(true)?;
                    at = value;
                    continue;
                }
                Key::Close(end) => end,
            },
            Some(b'[') => {
                let inside = space(text, start + 1);
                if text.get(inside) != Some(&b']') {
                    around = around.enter(false)?;
                    at = inside;
                    continue;
                }
                inside + 1
            }
            Some(byte) => scalar_end(text, start, *byte)?,
            None => return Err(Stop::NotJson),
        };
        // What may follow it.
        loop {
            if around.depth == 0 {
                return Ok(at);
            }
            let next = space(text, at);
            let object = around.objects & 1 == 1;
            at = match (text.get(next), object) {
                (Some(b','), false) => next + 1,
                (Some(b','), true) => match key(text, next + 1)? {
                    Key::Value(value) => value,
                    Key::Close(_) => return Err(Stop::NotJson),
                },
                (Some(b'}'), true) | (Some(b']'), false) => {
                    around = around.leave();
                    at = next + 1;
                    continue;
                }
                _ => return Err(Stop::NotJson),
            };
            break;
        }
    }
}

/// What is found where a member may begin.
enum Key {
    /// A name and its colon; its value comes next.
    Value(usize),
    /// The end of the object instead of a name.
    Close(usize),
}

#[inline]
fn key(text: &[u8], at: usize) -> Result<Key, Stop> {
    let start = space(text, at);
    match text.get(start) {
        Some(b'"') => {
            let (end, _) = string_end(text, start)?;
            Ok(Key::Value(colon(text, end)?))
        }
        Some(b'}') => Ok(Key::Close(start + 1)),
        _ => Err(Stop::NotJson),
    }
}

/// The offset after the next colon.
#[inline]
pub(super) fn colon(text: &[u8], at: usize) -> Result<usize, Stop> {
    let at = space(text, at);
    if text.get(at) == Some(&b':') {
        Ok(at + 1)
    } else {
        Err(Stop::NotJson)
    }
}

/// The offset after the string whose quote is at `start`, and whether it has escapes.
#[inline]
pub(super) fn string_end(text: &[u8], start: usize) -> Result<(usize, bool), Stop> {
    let mut at = start + 1;
    let mut escaped = false;
    loop {
        at += plain_run(text.part(at..));
        match text.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                at = escape_end(text, at)?;
            }
            _ => return Err(Stop::NotJson),
        }
    }
}

/// The offset after the escape whose backslash is at `at`.
fn escape_end(text: &[u8], at: usize) -> Result<usize, Stop> {
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let digits = text.get(at + 2..at + 6).ok_or(Stop::NotJson)?;
            if digits.iter().all(u8::is_ascii_hexdigit) {
                Ok(at + 6)
            } else {
                Err(Stop::NotJson)
            }
        }
        _ => Err(Stop::NotJson),
    }
}

/// The offset after the number or the word that begins at `start`.
fn scalar_end(text: &[u8], start: usize, first: u8) -> Result<usize, Stop> {
    let word: &[u8] = match first {
        b't' => b"true",
        b'f' => b"false",
        b'n' => b"null",
        _ => return number_end(text, start),
    };
    let rest = text.part(start..);
    if rest.starts_with(word) {
        Ok(start + word.len())
    } else {
        Err(Stop::NotJson)
    }
}

fn number_end(text: &[u8], start: usize) -> Result<usize, Stop> {
    let is = |at: usize, byte: u8| text.get(at) == Some(&byte);
    let mut at = start + usize::from(is(start, b'-'));
    at = if is(at, b'0') {
        at + 1
    } else {
        digits_end(text, at)?
    };
    if is(at, b'.') {
        at = digits_end(text, at + 1)?;
    }
    if is(at, b'e') || is(at, b'E') {
        let sign = is(at + 1, b'+') || is(at + 1, b'-');
        at = digits_end(text, at + 1 + usize::from(sign))?;
    }
    Ok(at)
}

/// The offset after one or more digits.
fn digits_end(text: &[u8], start: usize) -> Result<usize, Stop> {
    let mut at = start;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    if at > start {
        Ok(at)
    } else {
        Err(Stop::NotJson)
    }
}

/// The offset of the next byte that is not white space.
#[inline]
pub(super) fn space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::MAX_DEPTH;

    /// The result of the scanner.
    fn told(text: &[u8]) -> Option<usize> {
        let span = Scanner::new(text).skip_token_by_token();
        span.ok().map(|span| span.end)
    }

    /// What is reported about an object on the way, and where it ends.
    fn walked(text: &[u8]) -> Option<(Vec<(Text, Span)>, usize)> {
        let mut found = Vec::new();
        let end = members_end(text, 0, 0, |name, value| found.push((name, value)))?;
        Some((found, end))
    }

    #[test]
    fn members_are_told_as_they_are_where_no_grammar_is_proved() {
        for text in [
            "{}x",
            "{ } ",
            r#"{"a":1}"#,
            r#"{ "a" : [1,{"b":2}] , "\u0062":"x\"" ,"":null } 7"#,
            r#"{"a":{"a":{}},"a":-1e5}}"#,
        ] {
            let (found, end) = walked(text.as_bytes()).unwrap();
            assert_eq!(Some(end), told(text.as_bytes()), "{text}");
            let mut wanted = Vec::new();
            crate::json::valid_members(&text.as_bytes()[..end], |name, value| {
                wanted.push((name, value));
            });
            assert_eq!(found, wanted, "{text}");
        }
        for text in [
            "",
            "[]",
            " {}",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{\"a\":01}",
            "{\"a\" 1}",
            "{a:1}",
            "{\"a\":1]",
        ] {
            assert_eq!(walked(text.as_bytes()), None, "{text}");
        }
        for (depth, fits) in [(MAX_DEPTH - 1, true), (MAX_DEPTH, false)] {
            let text = format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(walked(text.as_bytes()).is_some(), fits);
            assert_eq!(told(text.as_bytes()).is_some(), fits);
        }
    }

    #[test]
    fn values_end_where_the_scanner_ends_them() {
        for text in [
            "",
            " ",
            "1",
            " -0.5e+7 ,",
            "01",
            "-",
            "1.",
            "1e",
            "tru",
            "true1",
            "null]",
            "\"a\\u00e9\"x",
            "\"\\u00g0\"",
            "\"\\",
            "\"\u{1}\"",
            "{}",
            "{ }x",
            "[ ]",
            "[1,]",
            "{,}",
            "{\"a\" : [1 , {\"b\":\"]\"}]} 1",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{\"a\":1 \"b\":2}",
            "[1 2]",
            "[}",
            "{]",
            "[[[]]]]",
            "}",
            ",",
        ] {
            let text = text.as_bytes();
            assert_eq!(
                value_end(text, 0, 0),
                told(text),
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }

    #[test]
    fn depth_is_bounded_as_the_scanner_bounds_it() {
        for depth in [1, 63, 64, 65, 66, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let text = open.repeat(depth) + "1" + &close.repeat(depth);
                let text = text.as_bytes();
                assert_eq!(value_end(text, 0, 0), told(text), "{depth}");
                assert_eq!(
                    value_end(text, 0, 1).is_some(),
                    depth < MAX_DEPTH,
                    "{depth}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_scanner(text in r#"[\[\]{},: \\"truefalsnl0-9.eE+\-u]{0,24}"#) {
            prop_assert_eq!(value_end(text.as_bytes(), 0, 0), told(text.as_bytes()));
        }

        #[test]
        fn agrees_on_damaged_json(map in any::<std::collections::BTreeMap<String, Vec<Option<f64>>>>(), at in any::<prop::sample::Index>(), with in any::<u8>()) {
            let mut bytes = serde_json::to_vec(&map).unwrap();
            prop_assert_eq!(value_end(&bytes, 0, 0), Some(bytes.len()));
            let at = at.index(bytes.len());
            bytes[at] = with;
            prop_assert_eq!(value_end(&bytes, 0, 0), told(&bytes));
            bytes.truncate(at);
            prop_assert_eq!(value_end(&bytes, 0, 0), told(&bytes));
        }
    }
}
