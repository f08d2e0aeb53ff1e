//! The end of a value in free text, and whether it is one.

use std::ops::Range;

use super::names::{Class, classify};
use super::placeholders;
use super::vocabulary::NOT_VALUES;
use super::work;
use crate::slices::{Front as _, Part as _};

/// The content of a quoted value that opens at `at`, and whether its closing quote is present. The
/// quote may itself be escaped, as in JSON inside a JSON string.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<(Range<usize>, bool)> {
    let rest = text.part(at..);
    let backslashes = backslashes(rest);
    let quote = *rest.get(backslashes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let start = at + backslashes + 1;
    for found in memchr::memchr2_iter(quote, b'\n', text.part(start..)) {
        let end = start + found;
        let content = text.part(start..end);
        if text.get(end) == Some(&b'\n') {
            work::read(content.len());
            return Some((start..end, false));
        }
        let before = content
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        let closes = before <= backslashes || backslashes == 0 && before % 2 == 0;
        work::read(before);
        if closes && !(backslashes == 0 && before % 2 == 1) {
            work::read(content.len());
            return Some((start..end - before.min(backslashes), true));
        }
    }
    work::read(text.len() - start);
    Some((start..text.len(), false))
}

/// The number of backslashes at the start of `text`, as far as nesting makes sense.
pub(super) fn backslashes(text: &[u8]) -> usize {
    text.iter()
        .take(MOST_BACKSLASHES)
        .take_while(|byte| **byte == b'\\')
        .count()
}

/// The end of an unquoted value that starts at `start`.
///
/// Passwords contain punctuation, so a separator only ends a value if the text after it shows that
/// something else begins.
pub(super) fn unquoted(text: &[u8], start: usize, query: bool) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        let next = text.get(at + 1).copied().unwrap_or(b' ');
        let ends = match byte {
            0..=b' ' => true,
            b'#' => query,
            b'&' => query || next == b' ' || starts_pair(text, at + 1),
            b',' | b';' => {
                next.is_ascii_whitespace() || is_closing(next) || starts_pair(text, at + 1)
            }
            b'"' | b'\'' | b'`' => !next.is_ascii_alphanumeric(),
            b')' | b']' | b'}' => next.is_ascii_whitespace() || is_closing(next),
            b'<' => at > start && (next == b'/' || next.is_ascii_alphabetic()),
            b'>' => next.is_ascii_whitespace() || next == b'<',
            b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\''),
            _ => false,
        };
        if ends {
            break;
        }
        at += 1;
    }
    let value = text.part(start..at);
    work::read(value.len());
    // A sentence may end here.
    let stops = value
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b'.' | b'!' | b'?' | b':'))
        .count();
    if stops == 1 && value.len() > 1 {
        at - 1
    } else {
        at
    }
}

fn is_closing(byte: u8) -> bool {
    matches!(
        byte,
        b'"' | b'\'' | b'`' | b')' | b']' | b'}' | b',' | b';' | b'.'
    )
}

/// Whether `name=` or `name:` is at `at`.
fn starts_pair(text: &[u8], at: usize) -> bool {
    let rest = text.part(at..);
    let rest = rest.front(48);
    let rest = rest.strip_prefix(b"amp;").unwrap_or(rest);
    let name = rest.iter().take_while(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ')
    });
    let length = name.count();
    length > 0
        && rest
            .first()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b' ')
        && matches!(rest.get(length), Some(b'=' | b':'))
}

/// The context of an unquoted value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Around<'t> {
    /// The name before it.
    pub(super) name: &'t [u8],
    pub(super) separator: Separator,
    /// White space follows the separator.
    pub(super) spaced: bool,
    /// The text after the value.
    pub(super) after: &'t [u8],
}

/// The separator between a name and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// `:`, or only white space.
    Colon,
    /// `=` or `=>`.
    Equals,
    /// `==`.
    Comparison,
}

/// Whether an unquoted value under a secret name is one, and not a word of a sentence, a type, or a
/// piece of code.
pub(super) fn is_plausible(value: &[u8], around: &Around<'_>) -> bool {
    if !value.iter().any(u8::is_ascii_alphanumeric) || is_no_value(value, around) {
        return false;
    }
    match around.separator {
        Separator::Colon => {
            !(value.iter().all(u8::is_ascii_alphabetic) && is_followed_by_words(around.after))
        }
        Separator::Equals => true,
        Separator::Comparison => value.iter().any(u8::is_ascii_digit),
    }
}

/// Whether the start of a text already shows that it is not a value.
pub(super) fn is_no_value(start: &[u8], around: &Around<'_>) -> bool {
    let word = start
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    let bare = around.separator == Separator::Equals && !around.spaced;
    is_template(word)
        || is_tag(word)
        || is_described(word)
        || is_code(word, bare)
        || refers_to_secret(word, around.name)
}

/// Whether a value under an ambiguous name looks like a secret.
pub(super) fn is_opaque(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    if digits == value.len() {
        return (4..=8).contains(&digits);
    }
    let plain = |byte: &u8| {
        byte.is_ascii_graphic() && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'{' | b'}' | b'"')
    };
    let path = value.starts_with(b"/")
        || value.starts_with(b"./")
        || memchr::memmem::find(value, b"://").is_some();
    let mixed = digits > 0 && digits < value.len() || value.contains(&b':');
    value.len() >= 8 && mixed && !path && value.iter().all(plain)
}

/// `${VAR}`, `<your-token>`, `{{token}}`, `%s`, `$TOKEN`, `...`.
fn is_template(value: &[u8]) -> bool {
    match value {
        [b'<', ..] => value.contains(&b'>') || value.get(1).is_some_and(u8::is_ascii_alphabetic),
        [b'$', b'{' | b'(', ..]
        | [b'{', b'{', ..]
        | [b'%', b'(', ..]
        | [b'%', b's' | b'd' | b'v' | b'q'] => true,
        [b'{', name @ .., b'}'] => name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')),
        [b'$', name @ ..] => name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || *byte == b'_'),
        _ => {
            is_pattern(value)
                || value
                    .iter()
                    .all(|byte| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'-'))
        }
    }
}

/// `!Ref` and `!secret`: a tag of YAML, followed by a reference to the value.
fn is_tag(word: &[u8]) -> bool {
    let name = word.strip_prefix(b"!");
    let is_known = |name: &[u8]| {
        TAGS.iter()
            .any(|tag| tag.as_bytes().eq_ignore_ascii_case(name))
    };
    name.is_some_and(is_known)
}

/// The start of a regular expression, as in `s/password=.*/`.
fn is_pattern(value: &[u8]) -> bool {
    match value {
        [b'.', b'*' | b'+', ..]
        | [b'(', b'.', b'*' | b'+', ..]
        | [b'[', b'^', ..]
        | [b'\\', b'S' | b'w' | b'd', b'*' | b'+', ..] => true,
        [b'[', from, b'-', to, ..] => {
            from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric() && value.contains(&b']')
        }
        _ => false,
    }
}

/// Types, and words such as `required`, with or without an ending such as `[str]`.
pub(super) fn is_described(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"&").unwrap_or(value);
    let length = value
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-')
        .count();
    let mut lower = [0; 12];
    let (word, rest) = (value.part(..length), value.part(length..));
    let Some(lower) = lower.get_mut(..length) else {
        return false;
    };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    let ends = rest.first().is_none_or(|byte| b"[<(|?,;:)".contains(byte));
    ends && NOT_VALUES.iter().any(|known| known.as_bytes() == lower)
}

/// `password=password`, `token: accessToken`, `t.token,`: a name, no value.
fn refers_to_secret(word: &[u8], name: &[u8]) -> bool {
    let letter =
        |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.' | b'-' | b'$');
    let length = word.iter().take_while(|byte| letter(byte)).count();
    let (value, rest) = (word.part(..length), word.part(length..));
    if !rest.first().is_none_or(|byte| b",;)]}?:|&".contains(byte)) {
        return false;
    }
    let value = value.strip_suffix(b".").unwrap_or(value);
    if value.eq_ignore_ascii_case(name) {
        return true;
    }
    let humps = value.windows(2).any(|pair| match pair {
        [a, b] => a.is_ascii_lowercase() && b.is_ascii_uppercase() || matches!(b, b'_' | b'.'),
        _ => false,
    });
    humps && classify(value, &[]).class == Class::Secret
}

/// `os.environ["X"]`, `get_token()`, `process.env.TOKEN`. Where a password is likely, it requires a
/// full stop before the bracket, or a bracket that closes or contains a string.
fn is_code(word: &[u8], bare: bool) -> bool {
    let length = word
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        .count();
    let (path, rest) = (word.part(..length), word.part(length..));
    // `uuid4()` closes at once: other words with digits may be secrets.
    let digits = path.iter().any(u8::is_ascii_digit);
    let closes = rest.starts_with(b"()");
    if digits && !closes || path.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let env = [b"process.env".as_slice(), b"os.environ", b"import.meta.env"]
        .iter()
        .any(|env| path.starts_with(env));
    let call = length > 0 && matches!(rest, [b'(' | b'[', ..]);
    let sure = path.contains(&b'.') || matches!(rest.get(1), Some(b')' | b'"' | b'\'' | b'\\'));
    env || call && (sure || !bare)
}

/// Whether a sentence continues: with a word that no separator makes a name.
fn is_followed_by_words(after: &[u8]) -> bool {
    let after = after.front(128);
    let after = after
        .strip_prefix(b",")
        .or_else(|| after.strip_prefix(b";"))
        .unwrap_or(after);
    let Some(after) = after.strip_prefix(b" ") else {
        return false;
    };
    let after = after.trim_ascii_start();
    if placeholders::length(after).is_some() {
        return true;
    }
    let letter = after.first().is_some_and(u8::is_ascii_alphanumeric);
    let word = after
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'\''))
        .count();
    letter && !matches!(after.get(word), Some(b'=' | b':'))
}

/// The placeholder at the start of `text`.
pub(super) fn placeholder_at(text: &[u8], at: usize) -> Option<usize> {
    placeholders::length(text.part(at..)).map(|length| at + length)
}

/// Deeper quoting than this is not followed.
const MOST_BACKSLASHES: usize = 31;

/// Tags of `CloudFormation`, Home Assistant and Ansible.
const TAGS: &[&str] = &[
    "env_var",
    "getatt",
    "importvalue",
    "ref",
    "secret",
    "sub",
    "vault",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn unquoted_in(text: &str) -> &str {
        text.get(..unquoted(text.as_bytes(), 0, false)).unwrap()
    }

    #[test]
    fn quoted_values_end_at_their_own_quote() {
        for (text, content, closed) in [
            (r#""abc" x"#, "abc", true),
            (r#""a\"c" x"#, r#"a\"c"#, true),
            (r#""ac\\" x"#, r"ac\\", true),
            (r#"\"abc\",\"x\""#, "abc", true),
            (r#"\"a\\\"c\" x"#, r#"a\\\"c"#, true),
            ("'a\"c'", "a\"c", true),
            ("\"abc\nx\"", "abc", false),
            ("\"abc", "abc", false),
            ("\"", "", false),
        ] {
            assert_eq!(
                quoted(text.as_bytes(), 0).map(|(span, closed)| (text.get(span).unwrap(), closed)),
                Some((content, closed)),
                "{text}"
            );
        }
        assert_eq!(quoted(b"abc", 0), None);
    }

    #[test]
    fn unquoted_values_keep_their_punctuation() {
        for (text, value) in [
            ("abc def", "abc"),
            ("a,b;c&d", "a,b;c&d"),
            ("abc, user=x", "abc"),
            ("abc;Server=x", "abc"),
            ("abc&user=x", "abc"),
            ("abc.", "abc"),
            ("abc)", "abc"),
            ("a)b", "a)b"),
            ("abc\",\"x\"", "abc"),
            (r"abc\n", "abc"),
            ("abc</b>", "abc"),
        ] {
            assert_eq!(unquoted_in(text), value, "{text}");
        }
    }

    #[test]
    fn opaque_values() {
        for value in ["1234", "a1b2c3d4e5", "user:hunter2", "0a1b2c3d4e5f"] {
            assert!(is_opaque(value.as_bytes()), "{value}");
        }
        for value in [
            "12",
            "basic",
            "fn(a: u8)",
            "oauth2",
            "/etc/x1234",
            "https://x.example/1",
            "hello world 12",
        ] {
            assert!(!is_opaque(value.as_bytes()), "{value}");
        }
    }
}
