//! Walking text that is already known to be JSON: its grammar is not validated a second time.

use memchr::memchr2;

use super::{Span, Text, unescape};

/// Calls `each` with the name and the value of every member of `object`, which must be the source
/// text of a valid JSON object; returns false if it is not an object.
///
/// On text that is not JSON the spans are of no use, but nothing worse happens.
pub fn valid_members(object: &[u8], mut each: impl FnMut(Text, Span)) -> bool {
    let mut at = space(object, 0);
    if object.get(at) != Some(&b'{') {
        return false;
    }
    at = space(object, at + 1);
    while object.get(at) == Some(&b'"') {
        let (name, after) = string(object, at);
        // The colon.
        let start = space(object, space(object, after) + 1);
        let end = value(object, start);
        each(name, Span { start, end });
        // A comma, or the closing brace.
        at = space(object, space(object, end) + 1);
    }
    true
}

/// The value of a member of `object`, which must be the source text of a valid JSON object. With
/// duplicate names the last one wins.
#[must_use]
pub fn valid_member<'t>(object: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let mut found = None;
    valid_members(object, |key, value| {
        let source = key.span.of(object);
        let named = if key.escaped {
            let mut meaning = Vec::new();
            unescape(source, &mut meaning);
            meaning == name.as_bytes()
        } else {
            source == name.as_bytes()
        };
        if named {
            found = Some(value.of(object));
        }
    });
    found
}

/// Calls `each` with every element of `array`, which must be the source text of a valid JSON array;
/// returns false if it is not an array.
///
/// On text that is not JSON the spans are of no use, but nothing worse happens.
pub fn valid_elements(array: &[u8], mut each: impl FnMut(Span)) -> bool {
    let mut at = space(array, 0);
    if array.get(at) != Some(&b'[') {
        return false;
    }
    at = space(array, at + 1);
    while !matches!(array.get(at), None | Some(b']')) {
        let end = value(array, at);
        each(Span { start: at, end });
        // A comma, or the closing bracket.
        at = space(array, space(array, end) + 1);
    }
    true
}

/// The content of the string whose quote is at `at`, and the offset after it.
fn string(text: &[u8], at: usize) -> (Text, usize) {
    let start = (at + 1).min(text.len());
    let mut escaped = false;
    let mut end = start;
    while let Some(found) = stop(text, end) {
        end = found;
        if text.get(end) == Some(&b'"') {
            let span = Span { start, end };
            return (Text { span, escaped }, end + 1);
        }
        escaped = true;
        end += 2;
    }
    let span = Span {
        start,
        end: text.len(),
    };
    (Text { span, escaped }, text.len())
}

/// The offset of the next quote or backslash. Valid text has no control characters here, so it is
/// enough to search for these two bytes.
fn stop(text: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are short: to begin a search in wide steps would cost more than it saves.
    for _ in 0..2 {
        let Some(chunk) = text.get(at..).and_then(|rest| rest.first_chunk()) else {
            break;
        };
        let word = u64::from_le_bytes(*chunk);
        let hits = zeroes(word ^ QUOTES) | zeroes(word ^ SLASHES);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    // An escape at the end of invalid JSON leads past the end.
    let found = memchr2(b'"', b'\\', text.get(at..)?)?;
    Some(at + found)
}

/// The high bit of the lowest zero byte, and possibly of some bytes above it.
fn zeroes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const QUOTES: u64 = ONES * b'"' as u64;
const SLASHES: u64 = ONES * b'\\' as u64;

/// The end of the value that begins at `at`.
fn value(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = string(text, at).1,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            // The end of the container of a number or a word.
            b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r' if depth == 0 => break,
            _ => {
                at += 1;
                continue;
            }
        }
        if depth == 0 {
            break;
        }
    }
    at.min(text.len())
}

fn space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::members;

    type Members = Vec<(String, String)>;

    /// The members as both walks see them.
    fn both(text: &str) -> [Members; 2] {
        let text = text.as_bytes();
        let pair = |name: &[u8], value: &[u8]| {
            let owned = |bytes| String::from_utf8_lossy(bytes).into_owned();
            (owned(name), owned(value))
        };
        let [mut fast, mut proved] = [Members::new(), Members::new()];
        valid_members(text, |name, value| {
            fast.push(pair(name.span.of(text), value.of(text)));
        });
        members(text, |name, value| proved.push(pair(name, value))).unwrap();
        [fast, proved]
    }

    #[test]
    fn sees_what_the_scanner_sees() {
        for text in [
            "{}",
            r#" { "a" : 1 , "b":[{"c":"]}\""}],"d":-1.5e3,"e":null,"f":"\\" } "#,
            "{\"a\":{\"b\":{}},\n\t\"c\":\"x\"}",
        ] {
            let [fast, proved] = both(text);
            assert_eq!(fast, proved, "{text}");
        }
    }

    #[test]
    fn elements_are_what_stands_between_the_commas() {
        let elements = |text: &str| {
            let mut found = Vec::new();
            let array = valid_elements(text.as_bytes(), |span| {
                found.push(String::from_utf8_lossy(span.of(text.as_bytes())).into_owned());
            });
            (array, found)
        };
        let found = elements(r#" [ 1 ,"],", {"a":[2]},[ ] , null ] "#);
        assert_eq!(found.1, ["1", "\"],\"", "{\"a\":[2]}", "[ ]", "null"]);
        assert_eq!(elements("[]"), (true, Vec::new()));
        assert_eq!(elements("{}"), (false, Vec::new()));
    }

    proptest! {
        #[test]
        fn sees_what_the_scanner_sees_in_any_object(
            map in prop::collection::vec(("[a-c\u{e9}]{0,3}", any::<Option<i32>>(), r#"[\[\]{}",:\\ a]{0,12}"#), 0..6)
        ) {
            let members: Vec<String> = map
                .iter()
                .map(|(name, number, text)| {
                    format!("{}:[{}, {}]", serde_json::json!(name), serde_json::json!(number), serde_json::json!(text))
                })
                .collect();
            let [fast, proved] = both(&format!("{{{}}}", members.join(" , ")));
            prop_assert_eq!(fast, proved);
        }

        #[test]
        fn survives_what_is_no_json(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let text = [b"{\"".as_slice(), &bytes].concat();
            let mut seen = 0;
            valid_members(&text, |name, value| seen += name.span.of(&text).len() + value.of(&text).len());
            prop_assert!(seen <= 2 * text.len());
            let text = [b"[".as_slice(), &bytes].concat();
            let mut seen = 0;
            valid_elements(&text, |value| seen += value.of(&text).len());
            prop_assert!(seen <= text.len());
        }
    }
}
